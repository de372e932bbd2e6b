"""Images at other places: resized, sampled along a grid, and elements moved between channels and space."""
