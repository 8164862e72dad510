-- Combining: what a run makes of its best answers. A column's CHECK cannot be widened, so the column is made anew.
DROP TRIGGER run_changed;
ALTER TABLE runs ADD COLUMN new_phase TEXT CHECK (new_phase IN ('generate', 'score', 'compare', 'combine'));
UPDATE runs SET new_phase = phase;
ALTER TABLE runs DROP COLUMN phase;
ALTER TABLE runs RENAME COLUMN new_phase TO phase;
CREATE TRIGGER run_changed AFTER UPDATE OF
    name, state, pause_reason, phase, round, verdict, tags, pinned, cost_micros, unknown_calls ON runs BEGIN
    UPDATE runs SET version = version + 1 WHERE seq = NEW.seq;
END;

DROP INDEX tasks_state;
ALTER TABLE tasks ADD COLUMN new_kind TEXT NOT NULL DEFAULT 'generate'
    CHECK (new_kind IN ('generate', 'score', 'compare', 'combine'));
UPDATE tasks SET new_kind = kind;
ALTER TABLE tasks DROP COLUMN kind;
ALTER TABLE tasks RENAME COLUMN new_kind TO kind;
CREATE INDEX tasks_state ON tasks (run, state, kind, seq);

ALTER TABLE run_candidates ADD COLUMN combines INTEGER NOT NULL DEFAULT 0; -- 1: makes its answers from those of others
ALTER TABLE run_snapshots ADD COLUMN sources INTEGER NOT NULL DEFAULT 0;   -- how many answers go into a combined one
ALTER TABLE run_rounds ADD COLUMN sources TEXT;  -- JSON: the candidates' ordinals, best first, once they are combined

-- Which answers go into the combined ones, in the order in which they are shown.
CREATE TABLE run_sources (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    place INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    PRIMARY KEY (run, document, place)
) STRICT, WITHOUT ROWID;
