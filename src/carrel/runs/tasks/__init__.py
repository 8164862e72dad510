"""The life of a task: planned by `phases`, claimed, given its `inputs`, attempted, and committed as an outcome."""
