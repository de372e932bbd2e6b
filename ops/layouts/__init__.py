"""How results and gradients lie in memory: orders of axes by PyTorch's rules, and values in such an order."""
