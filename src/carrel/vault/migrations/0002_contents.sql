-- Everything a user writes or uploads: documents, instructions, criteria, fragments. Whoever inserts, updates or deletes
-- a row of `contents` need not think of the other tables: triggers keep them in step.
CREATE TABLE contents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,                 -- JSON: [tag]
    variables TEXT NOT NULL,            -- JSON: {NAME: content id or null}
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    body_bytes INTEGER NOT NULL,
    body_preview TEXT NOT NULL,
    criteria TEXT,                      -- JSON: the criteria in a body of type `criteria`, as they were understood
    body TEXT NOT NULL                  -- last, so that lists never read the pages of long bodies
) STRICT;
CREATE INDEX contents_by_type ON contents (type, seq);

-- The versions before the present one.
CREATE TABLE content_versions (
    content_seq INTEGER NOT NULL REFERENCES contents (seq) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    variables TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    body_bytes INTEGER NOT NULL,
    body_preview TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (content_seq, version)
) STRICT;

CREATE TABLE content_tags (
    tag TEXT NOT NULL,
    content_seq INTEGER NOT NULL REFERENCES contents (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, content_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_tags_by_content ON content_tags (content_seq);

-- Which contents the variables of a content stand for. What is linked cannot be deleted.
CREATE TABLE content_links (
    content_seq INTEGER NOT NULL REFERENCES contents (seq) ON DELETE CASCADE,
    name TEXT NOT NULL,
    linked_id TEXT NOT NULL REFERENCES contents (id),
    PRIMARY KEY (content_seq, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_links_by_linked ON content_links (linked_id);

CREATE VIRTUAL TABLE contents_text USING fts5 (
    name, description, tags, body,
    content = 'contents', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER contents_inserted AFTER INSERT ON contents BEGIN
    INSERT INTO contents_text (rowid, name, description, tags, body)
    VALUES (new.seq, new.name, new.description, new.tags, new.body);
    INSERT OR IGNORE INTO content_tags (tag, content_seq) SELECT value, new.seq FROM json_each(new.tags);
    INSERT INTO content_links (content_seq, name, linked_id)
    SELECT new.seq, key, value FROM json_each(new.variables) WHERE value IS NOT NULL;
END;

CREATE TRIGGER contents_text_changed AFTER UPDATE OF name, description, tags, body ON contents BEGIN
    INSERT INTO contents_text (contents_text, rowid, name, description, tags, body)
    VALUES ('delete', old.seq, old.name, old.description, old.tags, old.body);
    INSERT INTO contents_text (rowid, name, description, tags, body)
    VALUES (new.seq, new.name, new.description, new.tags, new.body);
END;

CREATE TRIGGER contents_tags_changed AFTER UPDATE OF tags ON contents WHEN old.tags <> new.tags BEGIN
    DELETE FROM content_tags WHERE content_seq = old.seq;
    INSERT OR IGNORE INTO content_tags (tag, content_seq) SELECT value, new.seq FROM json_each(new.tags);
END;

CREATE TRIGGER contents_variables_changed AFTER UPDATE OF variables ON contents WHEN old.variables <> new.variables BEGIN
    DELETE FROM content_links WHERE content_seq = old.seq;
    INSERT INTO content_links (content_seq, name, linked_id)
    SELECT new.seq, key, value FROM json_each(new.variables) WHERE value IS NOT NULL;
END;

CREATE TRIGGER contents_deleted AFTER DELETE ON contents BEGIN
    INSERT INTO contents_text (contents_text, rowid, name, description, tags, body)
    VALUES ('delete', old.seq, old.name, old.description, old.tags, old.body);
END;
