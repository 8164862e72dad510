"""How fast one user may call one provider: limits of the user's own choice, and what the provider itself will take."""
