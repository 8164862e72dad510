"""Checks of an answer that need no judge: what it contains, whether it is valid JSON, how far it overlaps.

`definition` says what a preset may ask for, and `marking` makes the checks, in a worker. The package knows neither runs
nor the database.
"""
