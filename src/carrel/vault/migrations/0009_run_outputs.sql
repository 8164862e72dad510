-- Answers that a run wrote into the library when it ended.
-- No reference to the content: it is the user's, who may change or delete it, and it is not written again.
CREATE TABLE run_outputs (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    generated INTEGER NOT NULL,                      -- generated.seq
    content_id TEXT NOT NULL,
    PRIMARY KEY (run, generated)
) STRICT, WITHOUT ROWID;
