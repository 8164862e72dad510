"""Backups: all data as one file, of a stopped service or of a running one."""
