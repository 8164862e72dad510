"""One call of a model outside of runs, from the check of its name to its row in the metering."""
