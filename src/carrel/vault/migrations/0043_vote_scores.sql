-- A voter's scores of both answers by the run's criteria, in the order in which they stood; NULL where nothing was scored.
ALTER TABLE run_votes ADD COLUMN scores TEXT;        -- JSON: {"first": {criterion: score}, "second": {…}}
