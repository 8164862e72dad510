-- The zip of an import, while it comes in and is read. Never a file: it holds what its user wrote.
CREATE TABLE import_pieces (
    import TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (import, ordinal)
) STRICT;
