-- What `issuance` says, for the slots that came from other nodes: their users' tokens were issued by other clocks.
CREATE TABLE slot_issuance (
    slot INTEGER NOT NULL PRIMARY KEY,
    latest INTEGER NOT NULL,
    ended INTEGER NOT NULL
) STRICT;

-- What `program_secret` is for the slots that came from other nodes, so that their users' program keys stay good.
CREATE TABLE slot_program_secret (
    slot INTEGER NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT;
