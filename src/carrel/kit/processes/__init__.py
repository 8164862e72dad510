"""What runs in another process: a worker for pure work that takes long, which never sees a key."""
