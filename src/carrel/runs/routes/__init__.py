"""The HTTP routes of runs, one file for each part of the interface."""
