"""The settings of one user."""
