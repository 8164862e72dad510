"""Worker processes for long, pure computations. They never see a key."""
