-- Set-ups that are not finished, as the program that writes them keeps them: nothing of the body is checked.
-- `preset_id` is the preset that one changes; if that is deleted, the draft is one of a new preset.
CREATE TABLE preset_drafts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    form TEXT NOT NULL,
    preset_id TEXT REFERENCES presets (id) ON DELETE SET NULL,
    version INTEGER NOT NULL DEFAULT 1,
    updated_at TEXT NOT NULL,
    body TEXT NOT NULL                  -- JSON; last, so that lists do not read it
) STRICT;
