"""Tokens and cost of every call to a model. The rows stay when the runs that made the calls are deleted."""
