"""Layers by what they do: normalise, resize, look up, compare, and say how wrong a result is."""
