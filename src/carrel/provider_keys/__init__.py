"""A user's own keys for model providers, inside the user's encrypted workspace."""
