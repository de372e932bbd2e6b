"""Losses of margins, of distances, and of label sequences."""
