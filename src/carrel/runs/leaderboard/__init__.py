"""Several runs together: one ranking over runs that share inputs and judges, and a record of each judge."""
