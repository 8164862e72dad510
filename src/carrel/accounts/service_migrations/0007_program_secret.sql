-- What program keys are stamped with and the session tokens of programs are signed with: random, made at the first
-- start. A restored backup gets another one, which ends every program key of the time before.
CREATE TABLE program_secret (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    secret BLOB NOT NULL
) STRICT;
