"""Where answers go when a run has ended: to the user's library, or to a GitHub repository."""
