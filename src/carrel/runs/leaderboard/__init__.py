"""Several runs at once: one ranking over runs that share inputs and judges, and a record of each judge."""
