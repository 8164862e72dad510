-- What the pairs of a check are drawn from. Checks on pairs that were the same for everybody have none.
ALTER TABLE judge_checks ADD COLUMN seed TEXT NOT NULL DEFAULT '';
