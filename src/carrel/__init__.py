"""Carrel: a private, encrypted workspace for every user, which compares and ranks language models and prompts."""

__version__ = "0.1.0"
