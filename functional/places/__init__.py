"""Writing at places that are data, and finding places: scatter, index_put, searchsorted, histograms."""
