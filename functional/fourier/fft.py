"""``tracegrad.fft``: PyTorch's ``torch.fft`` by numpy's transforms, in the precision of the input.

Compiled functions are re-recorded around them (`autograd/numpy_function.py`).
"""

from __future__ import annotations

from types import FunctionType

from ...tensors.autocasting import full_precision
from ...tensors.operands import checked
from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

globals().update(
    {
        name: checked(full_precision(function), f"fft_{name}", within="fft")
        for name, function in list(globals().items())
        if name in __all__ and isinstance(function, FunctionType)
    }
)
