"""Keys for model providers: a user's own in the encrypted workspace, and the system's, sealed in `service.db`."""
