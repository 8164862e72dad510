"""Working on runs. Begin with `engine`, which keeps every run of the process going.

`driver` works on one run, `payer` pays for its calls. `commands` and `reevaluate` are what users ask of a run, and
`retention` deletes old ones.
"""
