"""Credits: a user's balance and the ledger that explains it."""
