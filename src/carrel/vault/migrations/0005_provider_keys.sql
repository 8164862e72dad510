-- The user's own keys for model providers; the same table as the service's, read by the same functions.
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
