-- Sessions that the user ended one by one, by their epoch second of issue. A row stays for as long as a token can live.
CREATE TABLE ended_session (
    issued_at INTEGER NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
