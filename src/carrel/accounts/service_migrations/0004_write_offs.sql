-- What the host bore of its users' calls: the sums of each user and UTC day, as the user's workspace tells them.
CREATE TABLE write_off (
    owner TEXT NOT NULL,                             -- the user's folder name, not the uuid; '' for deleted users
    day TEXT NOT NULL,
    calls INTEGER NOT NULL,
    amount_micros INTEGER NOT NULL,                  -- credits
    PRIMARY KEY (owner, day)
) STRICT, WITHOUT ROWID;

-- The users whose accounts may hold credits back. Without this list nobody could open the account of a user who does not
-- come back, because its key follows from the uuid.
CREATE TABLE holder (
    owner TEXT NOT NULL PRIMARY KEY,                 -- the user's folder name
    uuid TEXT NOT NULL
) STRICT, WITHOUT ROWID;
