-- What the website knows about its users. Nothing here opens a workspace: the website stores the argon2 hash of a
-- password, and a workspace's key only if the user wants a recovery code, and then sealed to that code.
CREATE TABLE IF NOT EXISTS users (
    uuid            TEXT PRIMARY KEY,
    email           TEXT NOT NULL UNIQUE COLLATE NOCASE,
    plan            TEXT NOT NULL CHECK (plan IN ('free', 'paid')),
    -- The user has confirmed 'starting-anew' or 'deleting', and the service may not know yet.
    state           TEXT NOT NULL CHECK (state IN ('active', 'starting-anew', 'deleting')),
    -- If the service does not know a workspace that was made once, that is an alarm: no other one is made.
    workspace_made       INTEGER NOT NULL DEFAULT 0,
    recovery_public BLOB,
    created_at      INTEGER NOT NULL
) STRICT;

-- Usually one for each user. While a change is pending there are more, and a sign-in shows which one counts.
CREATE TABLE IF NOT EXISTS passwords (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid       TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    hash       TEXT NOT NULL,
    sealed_key BLOB,
    pending    INTEGER NOT NULL,
    by_reset   INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS passwords_of ON passwords (uuid);

-- Who is signed in, and with which password. When a password is replaced, the visits that it began end.
CREATE TABLE IF NOT EXISTS signed_in (
    id_hash  BLOB PRIMARY KEY,
    password INTEGER NOT NULL REFERENCES passwords ON DELETE CASCADE,
    began_at INTEGER NOT NULL,
    used_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS signed_in_by ON signed_in (password);

-- Visits that ended because the account was deleted, so that an open page of the app can say so. Nothing else is kept.
CREATE TABLE IF NOT EXISTS visits_of_deleted (
    id_hash  BLOB PRIMARY KEY,
    began_at INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS resets (
    id_hash    BLOB PRIMARY KEY,
    uuid       TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT;

-- Stored before the credits are added. The id is the idempotency key, so that they count once.
CREATE TABLE IF NOT EXISTS orders (
    id           TEXT PRIMARY KEY,
    uuid         TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    credits      INTEGER NOT NULL,
    ordered_at   INTEGER NOT NULL,
    delivered_at INTEGER
) STRICT;
