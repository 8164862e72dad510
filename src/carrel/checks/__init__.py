"""Checks of an answer that need no judge: what it contains, whether it is valid JSON, how far it overlaps.

`definition` says what a preset may ask for, `compiler` has a worker try the patterns and schemas before they are kept,
and `work` makes the checks there. Only workers import `marking`, `patterns` and `json_schema`, and with them the
libraries that compile what users write. The package knows neither runs nor the database.
"""
