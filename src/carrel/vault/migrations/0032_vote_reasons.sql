-- Why a person voted so, in their own words; empty where they did not say it.
ALTER TABLE run_votes ADD COLUMN reason TEXT NOT NULL DEFAULT '';
