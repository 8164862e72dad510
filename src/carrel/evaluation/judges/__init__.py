"""What the records tell of each judge: agreement with others, health, and how a person's votes compare."""
