"""Suites of promptfoo: a configuration becomes a data set and a preset, and a preset a configuration.

Nothing of a configuration is ever executed: it is read as data, and what would have to run is left out and counted.
"""
