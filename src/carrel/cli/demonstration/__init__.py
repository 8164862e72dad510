"""What `carrel demo` needs: a service that lives as long as the command, and a look at its files."""
