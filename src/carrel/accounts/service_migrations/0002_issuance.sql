-- The latest second of the machine's clock at which tokens may have been issued. A process whose clock is behind it
-- revokes them all the same.
CREATE TABLE issuance (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    latest INTEGER NOT NULL
) STRICT;
