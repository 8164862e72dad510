-- Sums of the calls that have ended, so that usage reads no calls. Triggers keep them: a call ends once, and its charge
-- may be decided later. Days of every time zone begin with a quarter of an hour.
CREATE TABLE call_sums (
    quarter TEXT NOT NULL,                           -- in which the calls began, such as 2026-11-21T10:15
    run_id TEXT NOT NULL,                            -- '': outside of runs
    phase TEXT NOT NULL,                             -- '': none
    model TEXT NOT NULL,
    host TEXT NOT NULL,                              -- '': its provider's own
    calls INTEGER NOT NULL,
    unknown_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    written_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    charged_micros INTEGER NOT NULL,
    PRIMARY KEY (quarter, run_id, phase, model, host)
) STRICT, WITHOUT ROWID;

INSERT INTO call_sums
    SELECT substr(started_at, 1, 14) || printf('%02d', substr(started_at, 15, 2) / 15 * 15), coalesce(run_id, ''),
        coalesce(phase, ''), model, coalesce(host, ''), count(*), sum(cost_micros IS NULL), coalesce(sum(input_tokens), 0),
        coalesce(sum(cached_tokens), 0), coalesce(sum(written_tokens), 0), coalesce(sum(output_tokens), 0),
        coalesce(sum(cost_micros), 0), coalesce(sum(charged_micros), 0)
    FROM calls WHERE outcome <> 'running' GROUP BY 1, 2, 3, 4, 5;

CREATE TRIGGER call_summed AFTER UPDATE OF outcome ON calls WHEN OLD.outcome = 'running' AND NEW.outcome <> 'running' BEGIN
    INSERT INTO call_sums VALUES (
        substr(NEW.started_at, 1, 14) || printf('%02d', substr(NEW.started_at, 15, 2) / 15 * 15), coalesce(NEW.run_id, ''),
        coalesce(NEW.phase, ''), NEW.model, coalesce(NEW.host, ''), 1, NEW.cost_micros IS NULL,
        coalesce(NEW.input_tokens, 0), coalesce(NEW.cached_tokens, 0), coalesce(NEW.written_tokens, 0),
        coalesce(NEW.output_tokens, 0), coalesce(NEW.cost_micros, 0), coalesce(NEW.charged_micros, 0))
    ON CONFLICT DO UPDATE SET
        calls = calls + 1, unknown_calls = unknown_calls + excluded.unknown_calls,
        input_tokens = input_tokens + excluded.input_tokens, cached_tokens = cached_tokens + excluded.cached_tokens,
        written_tokens = written_tokens + excluded.written_tokens, output_tokens = output_tokens + excluded.output_tokens,
        cost_micros = cost_micros + excluded.cost_micros, charged_micros = charged_micros + excluded.charged_micros;
END;
CREATE TRIGGER call_charged AFTER UPDATE OF charged_micros ON calls WHEN OLD.outcome <> 'running' BEGIN
    UPDATE call_sums SET charged_micros = charged_micros + coalesce(NEW.charged_micros, 0) - coalesce(OLD.charged_micros, 0)
    WHERE quarter = substr(NEW.started_at, 1, 14) || printf('%02d', substr(NEW.started_at, 15, 2) / 15 * 15)
        AND run_id = coalesce(NEW.run_id, '') AND phase = coalesce(NEW.phase, '') AND model = NEW.model
        AND host = coalesce(NEW.host, '');
END;
