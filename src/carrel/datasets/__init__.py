"""Tables whose rows are the inputs of runs: read from a file, kept in versions."""
