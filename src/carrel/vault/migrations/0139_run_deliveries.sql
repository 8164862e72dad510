-- Answers that a run sends to a repository when a round of it ends. What fails is told and not tried again by itself.
CREATE TABLE run_deliveries (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    connection_id TEXT NOT NULL,                     -- no reference: the connection may go, which is then what fails
    answers TEXT NOT NULL,
    path TEXT NOT NULL,
    branch TEXT,
    state TEXT NOT NULL CHECK (state IN ('wanted', 'done', 'failed')),
    PRIMARY KEY (run, round)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_deliveries_wanted ON run_deliveries (run) WHERE state = 'wanted';
