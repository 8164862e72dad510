-- A person's blind votes. A row is a pair as it was shown; it is a vote once it has a word, and never shown again.
CREATE TABLE run_votes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL,
    candidate INTEGER NOT NULL,                      -- candidate < opponent, as in tasks
    opponent INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    presented TEXT NOT NULL CHECK (presented IN ('ab', 'ba')),  -- which of them stood first
    word TEXT CHECK (word IN ('first', 'second', 'tie')),
    withdrawn INTEGER NOT NULL DEFAULT 0,
    shown_at TEXT NOT NULL,
    voted_at TEXT,
    UNIQUE (run, document, candidate, opponent, repeat)
) STRICT;
