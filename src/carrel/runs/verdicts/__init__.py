"""From verdicts to a ranking: the evidence of a run, votes of people, and rankings with other judges or weights."""
