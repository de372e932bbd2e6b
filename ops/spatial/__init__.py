"""Primitives of windows that slide over a space: convolution, and where maxima stand."""
