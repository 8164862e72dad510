"""Carrel: a private, encrypted desk for every user, and a workbench that ranks language models and prompts on it."""

__version__ = "0.1.0"
