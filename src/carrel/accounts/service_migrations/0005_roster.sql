-- Which user each folder belongs to: a new service key gives every folder another name, which only the uuid tells.
CREATE TABLE roster (
    owner TEXT NOT NULL PRIMARY KEY,                 -- the user's folder name
    uuid TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row while the service key is being rotated. The service does not start then.
CREATE TABLE rotation (
    id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
