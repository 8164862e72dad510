"""What a user writes and gathers: documents, instructions, criteria, fragments, and the variables that join them."""
