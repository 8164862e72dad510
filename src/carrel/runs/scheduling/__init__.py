"""Decides who may call now: fair turns between users, permits of a run, tasks at once in a run, waits after failures."""
