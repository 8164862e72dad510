-- Several people may vote, each on every pair. A drawn pair keeps the probability of its draw among the pairs that its
-- voter had not seen of the document; both columns are null where nobody drew, as in imported and earlier votes.
CREATE TABLE run_votes_by_voter (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    voter TEXT NOT NULL DEFAULT '',                  -- empty: the user, without a name
    document INTEGER NOT NULL,
    candidate INTEGER NOT NULL,                      -- candidate < opponent, as in tasks
    opponent INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    presented TEXT NOT NULL CHECK (presented IN ('ab', 'ba')),  -- which of them stood first
    word TEXT CHECK (word IN ('first', 'second', 'tie')),
    withdrawn INTEGER NOT NULL DEFAULT 0,
    shown_at TEXT NOT NULL,
    voted_at TEXT,
    chance REAL CHECK (chance > 0 AND chance <= 1),
    among INTEGER CHECK (among > 0),
    UNIQUE (run, voter, document, candidate, opponent, repeat)
) STRICT;
INSERT INTO run_votes_by_voter (seq, id, run, document, candidate, opponent, repeat, presented, word, withdrawn,
    shown_at, voted_at)
SELECT seq, id, run, document, candidate, opponent, repeat, presented, word, withdrawn, shown_at, voted_at
FROM run_votes;
DROP TABLE run_votes;
ALTER TABLE run_votes_by_voter RENAME TO run_votes;
