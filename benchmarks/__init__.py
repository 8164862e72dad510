"""Measures Carrel side by side with its floors and with a customary server: `make bench`."""
