"""The autograd graph: nodes, the engine of backward passes, grad modes, hooks."""
