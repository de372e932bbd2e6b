"""Functions of real numbers, element by element."""
