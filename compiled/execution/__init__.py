"""Programs bound to memory, chosen by shape, and their results committed."""
