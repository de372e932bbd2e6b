"""What programs ask and tell of devices, answered as PyTorch's build for CPUs does: under PyTorch's module names."""
