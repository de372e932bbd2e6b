"""Rows of tables looked up many at a time, and classes looked up in clusters."""
