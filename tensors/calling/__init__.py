"""How public functions are called: PyTorch's conventions, ``out=``."""
