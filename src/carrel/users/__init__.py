"""Users as the host manages them: creation, membership, deletion; and what a user sees of themselves."""
