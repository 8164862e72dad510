"""What `carrel demo` needs: a service that runs as long as the command, and a search of its files."""
