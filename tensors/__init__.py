"""The Tensor: creation, indexing, writes in place, exchange with numpy, random numbers."""
