"""Repositories on GitHub: which ones the user has connected, and reading and writing them."""
