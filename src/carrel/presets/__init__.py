"""Presets: which models and prompts work on which documents, and how their answers are judged."""
