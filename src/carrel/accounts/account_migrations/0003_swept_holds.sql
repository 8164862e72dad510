-- When the user had not come back for long, the whole hold was charged. The row stays: a return of the user refunds what
-- the call did not take.
ALTER TABLE reservation ADD COLUMN swept_at TEXT;
