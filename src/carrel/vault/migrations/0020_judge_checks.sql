-- What judges said on the built-in pairs whose better answers are known. Each word is a row as soon as it was paid for.
CREATE TABLE judge_checks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    parameters TEXT NOT NULL,                        -- JSON
    bench TEXT NOT NULL,                             -- which version of the pairs
    started_at TEXT NOT NULL,
    finished_at TEXT                                 -- NULL: some words are still to be asked for
) STRICT;
CREATE INDEX judge_checks_model ON judge_checks (model, seq);

CREATE TABLE judge_check_words (
    judge_check INTEGER NOT NULL REFERENCES judge_checks (seq) ON DELETE CASCADE,
    pair TEXT NOT NULL,
    presented TEXT NOT NULL CHECK (presented IN ('ab', 'ba')),
    word TEXT NOT NULL CHECK (word IN ('first', 'second', 'tie', 'invalid')),
    cost_micros INTEGER,                             -- of all calls that the word took; NULL: unknown
    PRIMARY KEY (judge_check, pair, presented)
) STRICT, WITHOUT ROWID;
