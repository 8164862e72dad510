"""How fast one user may call one provider: the limits that the user sets, and what the provider accepts."""
