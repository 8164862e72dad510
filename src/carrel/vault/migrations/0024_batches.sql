-- Calls that go to a provider together, at half the price. Before a batch is sent, its row says that it is being sent.
CREATE TABLE batches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                         -- random; the provider keeps it with the batch where it can
    run_id TEXT NOT NULL,                            -- no reference: calls and batches outlive their run
    round INTEGER NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'sending', 'sent', 'ended')),
    cancelled INTEGER NOT NULL DEFAULT 0,            -- nobody wants what is not answered yet
    remote_id TEXT,                                  -- the provider's id, once it is known
    due_at INTEGER NOT NULL DEFAULT 0,               -- seconds since the epoch: not sent before
    sending_at INTEGER,                              -- when it was first being sent
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX batches_open ON batches (run_id) WHERE state <> 'ended';

ALTER TABLE calls ADD COLUMN batch INTEGER;         -- NULL: the call goes by itself
CREATE INDEX calls_in_batch ON calls (batch) WHERE batch IS NOT NULL;
