-- What the host is told by webhooks, in ids alone. A row stays for some days after its end, so that nothing is told twice.
CREATE TABLE webhook (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,                             -- the user's folder name, not the uuid
    type TEXT NOT NULL,
    occasion TEXT NOT NULL,                          -- what of this type happens once
    data TEXT NOT NULL,                              -- JSON
    created_at TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at REAL,                                     -- NULL: delivered, or given up
    UNIQUE (owner, type, occasion)
) STRICT;
CREATE INDEX webhook_due ON webhook (due_at) WHERE due_at IS NOT NULL;
