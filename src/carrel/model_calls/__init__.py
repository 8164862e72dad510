"""Calls of models: what a call in a run and a single call have in common."""
