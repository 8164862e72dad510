"""Judges: their passports, and a check that any judge can take before it is used."""
