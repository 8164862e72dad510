"""The Reading Room: a small host website, as a host would write one, with Carrel behind it."""
