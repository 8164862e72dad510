"""Working on runs. Begin with `engine`, which keeps every run of the process going.

`driver` works on one run, `run_calls` calls models for its tasks, and `payer` pays for the calls. `batching` sends what
goes in batches. `dependencies` holds what all runs share. `commands`, `retry` and `reevaluate` are what users ask of a
run, and `retention` deletes old ones.
"""
