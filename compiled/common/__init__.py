"""What all of ``compiled`` uses: argument trees, memory of tensors, history, names."""
