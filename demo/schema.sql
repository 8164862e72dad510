-- What the website knows about its users. Nothing here opens a desk: of a password there is the argon2 hash, of a
-- desk's key nothing but, if the user wants a recovery code, a copy sealed to that code.
CREATE TABLE IF NOT EXISTS users (
    uuid            TEXT PRIMARY KEY,
    email           TEXT NOT NULL UNIQUE COLLATE NOCASE,
    plan            TEXT NOT NULL CHECK (plan IN ('free', 'paid')),
    -- 'starting-anew' and 'deleting' are what the user confirmed and the service may not have been told yet.
    state           TEXT NOT NULL CHECK (state IN ('active', 'starting-anew', 'deleting')),
    -- Once there was a desk, a service that knows none is an alarm and no reason to make another.
    desk_made       INTEGER NOT NULL DEFAULT 0,
    recovery_public BLOB,
    created_at      INTEGER NOT NULL
) STRICT;

-- Usually one for each user. While a change is pending there are more, and the desk decides which one counts.
CREATE TABLE IF NOT EXISTS passwords (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid       TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    hash       TEXT NOT NULL,
    sealed_key BLOB,
    pending    INTEGER NOT NULL,
    by_reset   INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS passwords_of ON passwords (uuid);

-- Who is signed in, and by which password: whoever came in with one that does not count any more goes with it.
CREATE TABLE IF NOT EXISTS signed_in (
    id_hash  BLOB PRIMARY KEY,
    password INTEGER NOT NULL REFERENCES passwords ON DELETE CASCADE,
    began_at INTEGER NOT NULL,
    used_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS signed_in_by ON signed_in (password);

CREATE TABLE IF NOT EXISTS resets (
    id_hash    BLOB PRIMARY KEY,
    uuid       TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT;

-- Written before the credits are added, and given to the service as the key under which they count once.
CREATE TABLE IF NOT EXISTS orders (
    id           TEXT PRIMARY KEY,
    uuid         TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    credits      INTEGER NOT NULL,
    ordered_at   INTEGER NOT NULL,
    delivered_at INTEGER
) STRICT;
