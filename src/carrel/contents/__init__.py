"""The texts of a user: documents, instructions, criteria and fragments, and the variables that link them."""
