-- Runs: what a run works from (snapshot), what it has to do (tasks), what came back, and what happened (log).
-- Everything here goes with its run; only its calls (0006_calls.sql), the metering, stay.

CREATE TABLE runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    preset_id TEXT,                                  -- no reference: the preset may change or go, the run does not
    state TEXT NOT NULL CHECK (state IN (
        'pending', 'running', 'paused', 'completed', 'completed_with_errors', 'failed', 'cancelled')),
    pause_reason TEXT CHECK (pause_reason IN (
        'user', 'budget', 'credits', 'key-absent', 'service-stopped', 'service-restarted', 'membership')),
    phase TEXT CHECK (phase IN ('generate', 'score', 'compare', 'combine')),
    round INTEGER NOT NULL DEFAULT 1,
    verdict TEXT,
    tags TEXT NOT NULL,                              -- JSON, for showing; `run_tags` is for finding
    pinned INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 1,              -- counts every change of what is shown of the run
    cost_micros INTEGER NOT NULL DEFAULT 0,          -- the sum of its calls' known costs
    unknown_calls INTEGER NOT NULL DEFAULT 0,        -- calls that ended and whose cost nobody knows
    created_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    CHECK ((state = 'paused') = (pause_reason IS NOT NULL))
) STRICT;
CREATE INDEX runs_state ON runs (state, seq);

CREATE TABLE run_tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_tags_run ON run_tags (run);

-- The snapshot ----------------------------------------------------------------------------------------------------

CREATE TABLE run_snapshots (
    run INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    configuration TEXT NOT NULL,                     -- JSON, as it was executed
    seed TEXT NOT NULL,                              -- follows from configuration and texts, not from time or chance
    fence TEXT NOT NULL,                             -- random: the marks around texts in prompts are derived from it
    concurrency INTEGER NOT NULL,
    timeout_seconds REAL NOT NULL,
    max_attempts INTEGER NOT NULL,
    budget_micros INTEGER,
    show_criteria INTEGER NOT NULL,
    sources INTEGER NOT NULL DEFAULT 0,              -- how many answers go into a combined one
    output TEXT                                      -- JSON; NULL: answers stay in the run
) STRICT;

CREATE TABLE run_texts (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    slots TEXT NOT NULL,                             -- JSON: where {{document}} and {{reference}} stand in instructions
    body TEXT NOT NULL,
    UNIQUE (run, digest)
) STRICT;

-- The columns `text`, `reference` and `…instructions` below hold a `run_texts.seq` of the same run. They are not declared
-- as references: every deleted text would then be looked for in all of them.
CREATE TABLE run_documents (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,                        -- d1, d2, … in the order of the inputs
    content_id TEXT NOT NULL,
    name TEXT NOT NULL,
    text INTEGER NOT NULL,
    reference INTEGER,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_candidates (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,                        -- c1, c2, …
    label TEXT NOT NULL,
    model TEXT,                                      -- provider:name; NULL if all its answers exist already
    family TEXT,                                     -- who made the model, to tell judges of their own family
    parameters TEXT NOT NULL,                        -- JSON
    instructions INTEGER,
    repeats INTEGER NOT NULL,                        -- answers per document: 1 where a repetition says nothing new
    combines INTEGER NOT NULL DEFAULT 0,             -- 1: makes its answers from those of others
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_existing (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    candidate INTEGER NOT NULL,
    document INTEGER NOT NULL,
    text INTEGER NOT NULL,
    PRIMARY KEY (run, candidate, document)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_rounds (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    criteria TEXT NOT NULL,                          -- JSON
    scoring_instructions INTEGER,
    comparison_instructions INTEGER,
    finalists INTEGER,                               -- how many are compared; NULL: all, or the rule for many candidates
    compared TEXT,                                   -- JSON: the candidates' ordinals, once they are chosen
    to_come INTEGER NOT NULL DEFAULT 0,              -- tasks of later phases that are certain but not planned yet
    pending INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    started_at TEXT,
    finished_at TEXT,
    sources TEXT,                                    -- JSON: the candidates' ordinals, best first, once they are combined
    looks INTEGER NOT NULL DEFAULT 0,                -- at the comparisons before all were made, after which it went on
    stopped INTEGER NOT NULL DEFAULT 0,              -- 1: the look after those decided
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER run_changed AFTER UPDATE OF
    name, state, pause_reason, phase, round, verdict, tags, pinned, cost_micros, unknown_calls ON runs BEGIN
    UPDATE runs SET version = version + 1 WHERE seq = NEW.seq;
END;
CREATE TRIGGER run_round_changed AFTER UPDATE ON run_rounds BEGIN
    UPDATE runs SET version = version + 1 WHERE seq = NEW.run;
END;

CREATE TABLE run_judges (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,                        -- j1, j2, …: the same judge in both phases
    name TEXT NOT NULL,                              -- the model; with a number where one model judges twice
    model TEXT NOT NULL,
    family TEXT,
    parameters TEXT NOT NULL,                        -- JSON
    scoring_weight REAL,                             -- NULL: does not score
    comparison_weight REAL,                          -- NULL: does not compare
    score_repeats INTEGER NOT NULL,
    PRIMARY KEY (run, round, ordinal)
) STRICT, WITHOUT ROWID;

-- The plan and its results ----------------------------------------------------------------------------------------

CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY,                         -- the order of the plan
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('generate', 'score', 'compare', 'combine')),
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled')),
    attempts INTEGER NOT NULL DEFAULT 0,             -- begun, those of unknown outcome included
    failures INTEGER NOT NULL DEFAULT 0,             -- ended without an answer
    malformed INTEGER NOT NULL DEFAULT 0,            -- ended with an answer that was not what was asked for
    document INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    opponent INTEGER,                                -- compare: the second candidate of the pair
    repeat INTEGER NOT NULL,
    judge INTEGER,
    judge_repeat INTEGER,                            -- score
    presented TEXT CHECK (presented IN ('ab', 'ba')),-- compare: which candidate the judge sees first
    error TEXT,                                      -- a code: of the failure, or why there is nothing; while pending, of the last attempt
    cost_micros INTEGER,
    started_at TEXT,
    finished_at TEXT,
    UNIQUE (run, key)
) STRICT;
CREATE INDEX tasks_state ON tasks (run, state, kind, seq);

CREATE TRIGGER task_planned AFTER INSERT ON tasks BEGIN
    UPDATE run_rounds SET pending = pending + 1 WHERE run = NEW.run AND number = NEW.round;
END;
CREATE TRIGGER task_moved AFTER UPDATE OF state ON tasks BEGIN
    UPDATE run_rounds SET
        pending = pending - (OLD.state = 'pending') + (NEW.state = 'pending'),
        running = running - (OLD.state = 'running') + (NEW.state = 'running'),
        succeeded = succeeded - (OLD.state = 'succeeded') + (NEW.state = 'succeeded'),
        failed = failed - (OLD.state = 'failed') + (NEW.state = 'failed'),
        skipped = skipped - (OLD.state = 'skipped') + (NEW.state = 'skipped'),
        cancelled = cancelled - (OLD.state = 'cancelled') + (NEW.state = 'cancelled')
    WHERE run = NEW.run AND number = NEW.round;
END;

CREATE TABLE generated (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task INTEGER NOT NULL UNIQUE REFERENCES tasks (seq) ON DELETE CASCADE,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    finish_reason TEXT NOT NULL CHECK (finish_reason IN ('stop', 'length', 'refused')),
    delivered INTEGER NOT NULL,                      -- 0: refused, empty or cut off; loses by rule
    words INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros INTEGER,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, document, candidate, repeat)
) STRICT;

-- Which answers go into the combined ones, in the order in which they are shown.
CREATE TABLE run_sources (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    place INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    PRIMARY KEY (run, document, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE scores (
    task INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
    fate TEXT NOT NULL CHECK (fate IN ('given', 'by_rule', 'invalid')),
    marks TEXT NOT NULL,                             -- JSON: criterion → number on its own scale
    said TEXT                                        -- the judge's own words; of an invalid one, as they came
) STRICT;

CREATE TABLE comparisons (
    task INTEGER PRIMARY KEY REFERENCES tasks (seq) ON DELETE CASCADE,
    word TEXT CHECK (word IN ('first', 'second', 'tie', 'invalid')),
    by_rule TEXT CHECK (by_rule IN ('a', 'b', 'tie')),
    said TEXT,
    CHECK ((word IS NULL) = (by_rule IS NOT NULL))
) STRICT;

CREATE TABLE run_rankings (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    ranking TEXT NOT NULL,                           -- JSON, as the round ended
    verdict TEXT NOT NULL,
    PRIMARY KEY (run, round)
) STRICT, WITHOUT ROWID;

-- What happened ---------------------------------------------------------------------------------------------------

CREATE TABLE run_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,           -- also the id of the event that tells of it
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    at TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')),
    event TEXT NOT NULL,
    task_key TEXT,
    state TEXT,
    code TEXT,
    model TEXT,
    attempt INTEGER,
    latency_ms INTEGER,
    input_tokens INTEGER,
    output_tokens INTEGER
) STRICT;
CREATE INDEX run_log_run ON run_log (run, seq);
