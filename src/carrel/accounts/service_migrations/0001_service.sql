-- What belongs to the service and to no user: system keys, logs that users shared, deletions under way.
CREATE TABLE provider_key (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    provider TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    base_url TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_test_ok INTEGER,
    last_test_at TEXT
) STRICT;

CREATE TABLE shared_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,                             -- the user's folder name, not the uuid
    entries BLOB NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX shared_log_owner ON shared_log (owner);

CREATE TABLE deletion (
    owner TEXT NOT NULL PRIMARY KEY,                 -- the user's folder name, not the uuid
    valid_from INTEGER NOT NULL,                     -- outlives the account, so that no old session comes back
    done INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
