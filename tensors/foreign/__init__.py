"""Memory of other libraries: which of their arrays tensors can show, and DLPack."""
