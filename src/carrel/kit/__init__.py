"""What would serve any service: databases, migrations, problems, paging, clock, ids. Knows nothing of Carrel."""
