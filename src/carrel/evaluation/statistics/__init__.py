"""Arithmetic that knows nothing of candidates and judges."""
