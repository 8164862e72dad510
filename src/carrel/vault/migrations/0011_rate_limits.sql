-- The user's own limits for providers; those without a row have the defaults. NULL: not limited.
CREATE TABLE rate_limits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    provider TEXT NOT NULL UNIQUE,
    requests_per_minute INTEGER,
    tokens_per_minute INTEGER,
    concurrency INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    updated_at TEXT NOT NULL
) STRICT;
