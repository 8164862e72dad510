"""Whether one candidate of a run is worse than another one, its baseline: the question of a pipeline."""
