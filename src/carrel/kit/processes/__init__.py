"""A worker process for long, pure computations. It never sees a key."""
