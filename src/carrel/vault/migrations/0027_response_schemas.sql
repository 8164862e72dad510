-- Candidates that answer in JSON of a schema, and checks of the answers of some candidates only.
ALTER TABLE run_candidates ADD COLUMN response_schema INTEGER;   -- the number of a text; NULL: it writes any text
ALTER TABLE run_checks ADD COLUMN candidates TEXT;               -- JSON: their ordinals; NULL: all of them
