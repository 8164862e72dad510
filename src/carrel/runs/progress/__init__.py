"""What clients see of runs and tasks: lists, counts, time left, events, labels and shared logs."""
