-- Answers that a run sends to a repository when a round of it ends. What fails for a passing reason is tried again.
CREATE TABLE run_deliveries (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    connection_id TEXT NOT NULL,                     -- no reference: the connection may go, which is then what fails
    answers TEXT NOT NULL,
    path TEXT NOT NULL,
    branch TEXT,
    state TEXT NOT NULL CHECK (state IN ('wanted', 'done', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,               -- seconds since the epoch
    made TEXT,                                       -- the commit made for it last; the branch may or may not show it
    PRIMARY KEY (run, round)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_deliveries_wanted ON run_deliveries (run) WHERE state = 'wanted';
