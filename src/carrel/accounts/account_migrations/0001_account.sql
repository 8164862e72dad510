-- One user's account: the single row of `account`, the credit ledger, and the host's idempotency records.
CREATE TABLE account (
    uuid TEXT NOT NULL PRIMARY KEY,
    membership TEXT NOT NULL CHECK (membership IN ('free', 'paid')),
    created_at TEXT NOT NULL,
    valid_from INTEGER NOT NULL,                     -- sessions issued before this epoch second are revoked
    has_workspace INTEGER NOT NULL DEFAULT 0,        -- from the first login on, a missing workspace.db is an error
    balance_micros INTEGER NOT NULL DEFAULT 0 CHECK (balance_micros >= 0),
    reserved_micros INTEGER NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    credits_updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('add', 'reserve', 'settle', 'release', 'refund')),
    amount_micros INTEGER NOT NULL,
    balance_micros INTEGER NOT NULL,
    reference TEXT,
    reason TEXT,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE idempotency (
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_digest BLOB NOT NULL,
    status INTEGER NOT NULL,
    response BLOB NOT NULL,
    etag TEXT,                                       -- that went with it: a repetition gets it too
    created_at TEXT NOT NULL,
    PRIMARY KEY (route, key)
) STRICT, WITHOUT ROWID;
