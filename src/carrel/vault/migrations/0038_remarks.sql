-- What of a file is not in its text, as its reader counted; files read before have no remarks.
ALTER TABLE documents ADD COLUMN remarks TEXT NOT NULL DEFAULT '[]';
