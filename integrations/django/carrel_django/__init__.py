"""Workspaces of Carrel for the users of a Django website."""
