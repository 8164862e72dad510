-- Keys with which programs sign in. The secret half of one stands nowhere: a row holds a hash of it, and the user's key
-- wrapped by a key that only the secret half gives. A key that has ended loses the wrapped key and keeps the hash, so
-- that its program can be told why.
CREATE TABLE program_key (
    id TEXT NOT NULL PRIMARY KEY,
    name BLOB NOT NULL,                              -- sealed with the user's key
    scopes TEXT NOT NULL,                            -- in their fixed order, with commas between
    created_at INTEGER NOT NULL,                     -- epoch seconds, as all times here
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    series TEXT NOT NULL,                            -- which secret of the service stamped it
    epoch INTEGER NOT NULL,                          -- `account.program_epoch` when it was made
    hash BLOB NOT NULL,
    wrapped BLOB,
    ended_at INTEGER,
    ended_by TEXT CHECK (ended_by IN ('user', 'password', 'membership')),
    CHECK ((ended_at IS NULL) = (ended_by IS NULL) AND (ended_at IS NULL OR wrapped IS NULL))
) STRICT, WITHOUT ROWID;

-- Rises with everything that ends all program keys of the user, and is bound into each wrapped key.
ALTER TABLE account ADD COLUMN program_epoch INTEGER NOT NULL DEFAULT 0;
