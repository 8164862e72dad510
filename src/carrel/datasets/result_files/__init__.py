"""Files of finished answers that other programs write, read as one row for each question."""
