-- The public keys that receipts of runs were signed with. The private key follows from the service key.
CREATE TABLE receipt_key (
    public TEXT NOT NULL PRIMARY KEY,                -- hex
    since TEXT NOT NULL
) STRICT, WITHOUT ROWID;
