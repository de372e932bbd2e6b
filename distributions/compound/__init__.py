"""Distributions made of other distributions."""
