"""Composites in numpy, forward and backward: what `tensors.fusion.fused` takes. Formulas are those of the primitives.

A forward pass gets what is wanted (for each operand whether it requires a gradient), the operands' arrays and the other
arguments; it gives the value, and what its backward pass needs, None where nothing is wanted. A backward pass gets the
gradient of the value, and the shapes of the operands whose gradients are wanted (None of the others). Only arrays made
here are written to: operands and gradients may be shared, broadcast or read-only.
"""
