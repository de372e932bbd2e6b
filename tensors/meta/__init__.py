"""Tensors on the device meta: element type, shape and layout, and no numbers."""
