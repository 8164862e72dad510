"""How answers are judged, and what may be concluded from the judgements; the package itself imports nothing."""
