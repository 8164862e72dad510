"""Runs: a preset's snapshot driven through candidates and judges, task by task, every result a row before it counts."""
