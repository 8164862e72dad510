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
    finished_at TEXT,
    phase TEXT,                                      -- generate, score, compare, combine, or what was asked outside of runs
    written_tokens INTEGER,                          -- put into the provider's cache
    price_id TEXT,                                   -- NULL: nobody knows the price
    most_micros INTEGER,                             -- the most that it was expected to cost
    reservation TEXT,                                -- credits: the id under which account.db holds them back
    reserved_micros INTEGER,
    charged_micros INTEGER                           -- credits: what it took of the balance, never more than reserved
) STRICT;
CREATE INDEX calls_run ON calls (run_id, seq);
CREATE INDEX calls_started ON calls (started_at);
CREATE INDEX calls_running ON calls (run_id) WHERE outcome = 'running';
CREATE UNIQUE INDEX calls_reservation ON calls (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX calls_unpriced ON calls (run_id, most_micros) WHERE cost_micros IS NULL;

CREATE TRIGGER calls_immutable BEFORE UPDATE ON calls WHEN OLD.outcome <> 'running' BEGIN
    SELECT RAISE(ABORT, 'a call that has ended does not change');
END;
