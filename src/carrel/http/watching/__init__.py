"""What is counted and logged of requests: the access log, and times by route for the operator's monitoring."""
