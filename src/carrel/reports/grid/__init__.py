"""The answers of a large run as a grid: figures of all cells in one answer, and beginnings of texts for a few rows."""
