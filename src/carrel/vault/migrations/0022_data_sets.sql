-- Data sets: tables whose rows are the inputs of runs. A change makes a new version; versions of which only names or
-- roles differ share their rows, which belong to the version that brought them (`batch`).
CREATE TABLE data_sets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    format TEXT NOT NULL,
    columns TEXT NOT NULL,              -- JSON: [{name, role}], in the order of the cells
    row_count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,             -- of the file
    batch INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- The versions before the present one.
CREATE TABLE data_set_versions (
    data_set INTEGER NOT NULL REFERENCES data_sets (seq) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    format TEXT NOT NULL,
    columns TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (data_set, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE data_set_rows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, -- an export reads in this order, so a number is never used again
    data_set INTEGER NOT NULL REFERENCES data_sets (seq) ON DELETE CASCADE,
    batch INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,           -- 1 is the first row of the file behind the names
    id TEXT NOT NULL,                   -- the cell of the id column, or the ordinal
    cells TEXT NOT NULL,                -- JSON: [text or null]; cells that a row lacks at its end are null
    UNIQUE (data_set, batch, ordinal)
) STRICT;
CREATE UNIQUE INDEX data_set_rows_by_id ON data_set_rows (data_set, batch, id);

-- Which data set a preset takes its inputs from. It cannot be deleted.
CREATE TABLE preset_data_sets (
    preset_seq INTEGER PRIMARY KEY REFERENCES presets (seq) ON DELETE CASCADE,
    data_set_id TEXT NOT NULL REFERENCES data_sets (id)
) STRICT;
CREATE INDEX preset_data_sets_by_data_set ON preset_data_sets (data_set_id);

-- Rows as inputs of runs.
ALTER TABLE run_documents ADD COLUMN fields TEXT;        -- JSON: {placeholder: number of a text}; NULL: a document
ALTER TABLE run_documents ADD COLUMN messages INTEGER;   -- the number of a text: a conversation as JSON
ALTER TABLE run_documents ADD COLUMN metadata TEXT;      -- JSON: {column: text}
