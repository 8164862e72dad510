"""Backups: all data as one file, of a service that stands still or of one that runs."""
