-- Metering: one row for every attempt to call a model, also for calls outside of runs. Outlives its run.
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run_id TEXT,
    task_key TEXT,
    attempt INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'answered', 'malformed', 'failed', 'unknown-outcome')),
    code TEXT,                                       -- why it failed
    input_tokens INTEGER,                            -- without the cached ones
    cached_tokens INTEGER,
    output_tokens INTEGER,
    cost_micros INTEGER,                             -- NULL: unknown, never 0 instead
    latency_ms INTEGER,
    started_at TEXT NOT NULL,
    finished_at TEXT
) STRICT;
CREATE INDEX calls_run ON calls (run_id, seq);
CREATE INDEX calls_started ON calls (started_at);
CREATE INDEX calls_running ON calls (run_id) WHERE outcome = 'running';
