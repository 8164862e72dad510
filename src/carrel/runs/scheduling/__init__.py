"""Decides who may call now: fair turns between users, permits and concurrency of a run, and waits after failures."""
