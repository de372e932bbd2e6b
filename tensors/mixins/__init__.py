"""Parts of the class Tensor."""
