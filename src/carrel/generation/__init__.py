"""The prompts for generating answers, and single generations."""
