"""Further pointwise primitives: special functions, and functions of how numbers are made."""
