"""Contractions of windows."""
