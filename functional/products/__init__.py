"""Products of vectors, matrices and tensors beyond matmul, and distances of rows."""
