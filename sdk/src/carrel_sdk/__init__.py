"""Carrel SDK."""
