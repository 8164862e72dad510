"""One candidate over the runs of a preset: reading what each run says of it, and which run was the last good one."""
