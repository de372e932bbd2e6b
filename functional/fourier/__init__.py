"""Fourier transforms by numpy: whole ones, those of short pieces of a signal, and window functions for these."""
