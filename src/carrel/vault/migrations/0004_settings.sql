-- The user's settings: one row, or none as long as the defaults hold.
CREATE TABLE settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value TEXT NOT NULL,                -- JSON
    version INTEGER NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
