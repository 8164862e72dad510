"""Numbered SQL; a shipped file is never edited."""
