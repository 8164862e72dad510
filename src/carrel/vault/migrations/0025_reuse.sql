-- Results of earlier runs in place of calls. `asked` is the digest of all that a call of a provider depends on.
ALTER TABLE tasks ADD COLUMN asked BLOB;             -- NULL: nobody was asked who would answer otherwise the next time
ALTER TABLE tasks ADD COLUMN reused INTEGER;         -- the task whose call brought the result; NULL: this one's own
CREATE INDEX tasks_asked ON tasks (asked) WHERE asked IS NOT NULL;
CREATE INDEX tasks_reused ON tasks (reused, run) WHERE reused IS NOT NULL;
ALTER TABLE runs ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;  -- how many tasks took the result of an earlier run
