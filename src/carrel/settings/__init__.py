"""How one user wants Carrel to look and to behave."""
