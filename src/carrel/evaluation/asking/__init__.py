"""The prompts that ask a judge, and how its replies are read."""
