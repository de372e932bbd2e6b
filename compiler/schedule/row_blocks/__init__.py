"""Blocks of rows: matrix products and the work on the rows of their results in one kernel, as attention wants it."""
