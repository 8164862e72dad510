"""What is done with a request before a route has it."""
