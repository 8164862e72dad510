-- What `issuance` says, for the slots that came from other nodes: their users' tokens were issued by other clocks.
CREATE TABLE slot_issuance (
    slot INTEGER NOT NULL PRIMARY KEY,
    latest INTEGER NOT NULL,
    ended INTEGER NOT NULL
) STRICT;
