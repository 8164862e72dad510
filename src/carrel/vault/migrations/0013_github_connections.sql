-- Repositories on GitHub that the user reads texts from and writes texts to, each with the token that opens it.
CREATE TABLE github_connections (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    repository TEXT NOT NULL,                        -- owner/name
    branch TEXT,                                     -- NULL: the repository's own default
    base_url TEXT NOT NULL,
    token TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_test_ok INTEGER,
    last_test_at TEXT
) STRICT;
