-- A run may look at its comparisons before all of them are made, and stop when they decide.
ALTER TABLE run_rounds ADD COLUMN looks INTEGER NOT NULL DEFAULT 0;  -- those that it went on after
ALTER TABLE run_rounds ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;  -- 1: the look after those decided
