"""Recurrent layers: loops over time of cells, and packed sequences."""
