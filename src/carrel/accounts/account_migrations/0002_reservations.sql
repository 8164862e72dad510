-- Credits held back for calls under way, under random ids. What a call is for stands in the user's workspace alone.
CREATE TABLE reservation (
    id TEXT NOT NULL PRIMARY KEY,
    amount_micros INTEGER NOT NULL CHECK (amount_micros >= 0),
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
