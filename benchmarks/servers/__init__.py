"""The servers under measurement: Carrel, the floor beneath it, and what one customarily writes."""
