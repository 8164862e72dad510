"""The commands of whoever runs the service, one module for each."""
