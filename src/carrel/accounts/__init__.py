"""What the host and the operator manage while a user is away: sealed with the service key, and never any content."""
