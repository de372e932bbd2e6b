"""Complex numbers: their parts, and who refuses them."""
