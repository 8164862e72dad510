-- Presets: what a run is made from. The configuration is one JSON text; what it holds of contents stands beside it, so
-- that a content in use cannot be deleted.
CREATE TABLE presets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,                 -- JSON: [tag]
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    input_count INTEGER NOT NULL,
    candidate_labels TEXT NOT NULL,     -- JSON: [label]
    configuration_bytes INTEGER NOT NULL,
    configuration TEXT NOT NULL         -- JSON; last, so that lists do not read it
) STRICT;

CREATE TABLE preset_contents (
    preset_seq INTEGER NOT NULL REFERENCES presets (seq) ON DELETE CASCADE,
    content_id TEXT NOT NULL REFERENCES contents (id),
    PRIMARY KEY (preset_seq, content_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX preset_contents_by_content ON preset_contents (content_id);
