"""Composites in numpy, forward and backward, which plain eager mode takes in place of their primitives."""
