"""What goes back to a client."""
