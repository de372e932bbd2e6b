"""Sparse tensors in coordinate form: places and values, and what graph networks do with them."""
