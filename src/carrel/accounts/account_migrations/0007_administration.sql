-- What the operator decides about a user: since when nobody may sign in, and how large the workspace may become.
ALTER TABLE account ADD COLUMN suspended_at TEXT;
ALTER TABLE account ADD COLUMN workspace_megabytes INTEGER CHECK (workspace_megabytes > 0);
