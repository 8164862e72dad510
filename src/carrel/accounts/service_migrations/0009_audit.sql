-- Where the audit files stand: who cuts or changes them cannot change this. The key that chains their entries is random,
-- so that a rotation of the service key leaves it.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL,
    seq INTEGER NOT NULL,
    mac TEXT NOT NULL,                               -- of the last entry, hex
    file TEXT NOT NULL,                              -- the newest one
    bytes INTEGER NOT NULL                           -- of it
) STRICT;
