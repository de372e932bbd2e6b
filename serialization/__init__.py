"""``save`` and ``load``: a restricted unpickler, tensors in files, atomic writes."""
