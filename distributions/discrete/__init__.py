"""Distributions of integers, of truth values and of counts."""
