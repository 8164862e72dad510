"""Where answers come from: what a provider is, and each one Carrel can call."""
