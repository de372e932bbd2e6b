"""Distributions of vectors and matrices of real numbers."""
