"""Elements folded into places that are data, and places that are searched for."""
