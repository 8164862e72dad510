"""From verdicts and scores to a ranking, its intervals, what could overturn it, and when to stop."""
