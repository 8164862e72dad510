-- The record that proves the database open, and the answers of requests that carried an Idempotency-Key.
CREATE TABLE user_meta (
    uuid TEXT NOT NULL PRIMARY KEY,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_digest BLOB NOT NULL,
    status INTEGER NOT NULL,
    response BLOB NOT NULL,
    etag TEXT,                          -- that went with it: a repetition gets it too
    created_at TEXT NOT NULL,
    PRIMARY KEY (route, key)
) STRICT, WITHOUT ROWID;
