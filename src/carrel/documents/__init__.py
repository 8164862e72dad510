"""Documents: files that a user uploads. Their text becomes a content, the original is kept beside it."""
