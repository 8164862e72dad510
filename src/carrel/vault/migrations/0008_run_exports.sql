-- Exports: a zip of everything about a run, in pieces. Never a file: what leaves the database leaves it over the wire.

CREATE TABLE run_exports (
    run INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    build TEXT NOT NULL,                             -- whose pieces count: a newer build takes the place of an older one
    basis INTEGER NOT NULL,                          -- the run's last log row when it was built: the same row, the same zip
    state TEXT NOT NULL CHECK (state IN ('building', 'ready', 'failed')),
    code TEXT,                                       -- why it failed
    bytes INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    CHECK ((state = 'failed') = (code IS NOT NULL))
) STRICT;
CREATE INDEX run_exports_building ON run_exports (run) WHERE state = 'building';

CREATE TABLE run_export_pieces (
    run INTEGER NOT NULL REFERENCES run_exports (run) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run, ordinal)
) STRICT;
