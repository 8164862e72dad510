-- The checks of a run, which need no judge: what they ask of each answer, and their marks.
CREATE TABLE run_checks (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL,                         -- from 0, in the order of the configuration
    definition TEXT NOT NULL,                        -- JSON
    failures INTEGER NOT NULL DEFAULT 0,             -- how often the check of one answer took too long or broke
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE check_marks (
    generated INTEGER PRIMARY KEY REFERENCES generated (seq) ON DELETE CASCADE,
    run INTEGER NOT NULL,
    passes INTEGER NOT NULL,                         -- 0: fails a required check; loses by rule
    marks TEXT NOT NULL                              -- JSON: for each check a number from 0 to 1, or null
) STRICT;
CREATE INDEX check_marks_of_run ON check_marks (run, generated);

ALTER TABLE run_rankings ADD COLUMN checks TEXT;     -- JSON, as the round ended; NULL: the run has no checks
