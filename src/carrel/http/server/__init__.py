"""Connections: the protocol, its limits, and TLS."""
