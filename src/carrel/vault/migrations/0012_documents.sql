-- Uploaded files: the original in pieces, beside the content that its text became. They are one thing: when either goes,
-- both go. Never a file: what is uploaded is in memory until it is here.

CREATE TABLE documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    content_id TEXT NOT NULL UNIQUE REFERENCES contents (id) ON DELETE CASCADE,
    file_name TEXT NOT NULL,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE document_pieces (
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (document, ordinal)
) STRICT;
