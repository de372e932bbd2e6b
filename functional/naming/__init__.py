"""Names: PyTorch's second names of what there is, in-place forms, and what an unknown name is answered."""
