"""Composite operations by family, written in primitives: what tensors' methods and ``nn.functional`` are made of."""
