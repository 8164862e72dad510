"""What ended runs show: the gate against a baseline, parts of a split, a trend over runs, the leaderboard."""
