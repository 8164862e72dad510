"""Making a run: the snapshot of its configuration and texts, and what it will cost before it is made."""
