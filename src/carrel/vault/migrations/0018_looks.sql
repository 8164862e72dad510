-- What a round found at its looks before the last one. A candidate that is beaten there takes no further part.
CREATE TABLE run_looks (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    number INTEGER NOT NULL,                         -- from 1
    documents INTEGER NOT NULL,                      -- compared until then
    leader INTEGER,                                  -- the candidate's ordinal; NULL: nobody led alone
    beaten TEXT NOT NULL,                            -- JSON: the ordinals of those that the leader beat at this look
    PRIMARY KEY (run, round, number)
) STRICT, WITHOUT ROWID;

ALTER TABLE run_rounds ADD COLUMN in_blocks INTEGER NOT NULL DEFAULT 0;  -- 1: answers and scores, too, go from look to look
ALTER TABLE run_rounds ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;      -- tasks that looks made unnecessary
ALTER TABLE run_rounds ADD COLUMN saved_micros INTEGER;                  -- about what they would have cost; NULL: unknown
ALTER TABLE run_candidates ADD COLUMN answered INTEGER;  -- how many of the ordered documents, if answers ended early
