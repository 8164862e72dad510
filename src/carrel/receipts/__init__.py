"""Receipts of runs: signed records from which anybody recomputes a ranking, without the texts."""
