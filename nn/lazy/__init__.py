"""Layers whose sizes follow from their first input."""
