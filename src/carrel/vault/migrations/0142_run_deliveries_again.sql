-- A delivery that failed for a passing reason is tried again.
ALTER TABLE run_deliveries ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_deliveries ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;  -- seconds since the epoch
ALTER TABLE run_deliveries ADD COLUMN made TEXT;  -- the commit made for it last; the branch may or may not show it
