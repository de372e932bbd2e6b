"""``tracegrad.signal``: PyTorch's ``torch.signal``, whose only part is `windows`."""

from . import windows

__all__ = ["windows"]
