"""Activations that shrink, that draw numbers, and that overwrite their input."""
