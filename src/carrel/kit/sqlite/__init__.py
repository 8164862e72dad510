"""What speaks SQLite: connections and their traps, migrations, pages of rows, JSON in a column."""
