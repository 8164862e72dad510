-- Trials: runs of all candidates on one document, which lists and leaderboards leave out.
ALTER TABLE runs ADD COLUMN trial INTEGER NOT NULL DEFAULT 0;
