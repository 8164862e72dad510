-- A vote may say that neither answer is good enough. For statistics it is a tie.
ALTER TABLE run_votes ADD COLUMN both_bad INTEGER NOT NULL DEFAULT 0 CHECK (both_bad IN (0, 1));

-- A person's star and note on an answer, whichever judges it had.
CREATE TABLE run_notes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    starred INTEGER NOT NULL CHECK (starred IN (0, 1)),
    note TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (run, document, candidate, repeat)
) STRICT;
