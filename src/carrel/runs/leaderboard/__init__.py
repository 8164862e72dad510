"""Several runs together: one ranking over runs that share inputs and judges, and the passport of each judge."""
