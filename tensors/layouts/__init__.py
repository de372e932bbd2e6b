"""How tensors lie in memory: names of layouts, and tensors that are laid out as asked for."""
