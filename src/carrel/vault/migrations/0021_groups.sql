-- Which documents of a run belong together. NULL: the document stands alone.
ALTER TABLE run_documents ADD COLUMN belongs TEXT;       -- the name of its group: a tag, the beginning of names, a given one
ALTER TABLE run_documents ADD COLUMN near INTEGER;       -- the ordinal of an earlier document with nearly the same text
ALTER TABLE run_snapshots ADD COLUMN suggested TEXT;     -- what seems to make groups, where none are given: name, tag
