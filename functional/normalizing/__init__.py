"""Normalisation within groups of channels and single instances, by neighbouring channels, and dropping at random."""
