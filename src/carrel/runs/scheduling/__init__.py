"""Who may call now: fair turns between users, permits of a run, concurrency within a run, and waits after failures."""
