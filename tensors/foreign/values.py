"""Values of other libraries as tensors: numpy's arrays, and PyTorch's tensors when both are in one process."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.types import ALL_DTYPES, bfloat16
from ..tensor import Tensor, make

_KNOWN = frozenset(dtype.numpy for dtype in ALL_DTYPES)


def as_own(value: Any) -> Any:
    """A numpy array, or a tensor of PyTorch's on the CPU, as a tensor over the same memory; anything else as it is.

    Also what has an element type that tracegrad does not have stays as it is.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        value = np.asarray(value)
    array = value if isinstance(value, np.ndarray) else _of_torch(value)
    if array is None or array.dtype not in _KNOWN:
        return value
    return make(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))


def _of_torch(value: Any) -> np.ndarray | None:
    """The memory of a tensor of PyTorch's; None for anything else."""
    kinds = {f"{base.__module__}.{base.__qualname__}" for base in type(value).__mro__}
    if not kinds & {"torch.Tensor", "torch._tensor.Tensor"}:
        return None
    plain = value.detach().cpu().resolve_conj().resolve_neg()
    if str(plain.dtype) != "torch.bfloat16":
        return plain.numpy()
    return plain.view(dtype=_int16_of(plain)).numpy().view(bfloat16.numpy)


def _int16_of(tensor: Any) -> Any:
    """PyTorch's element type of 16 bits that numpy has as well."""
    return tensor.new_zeros(()).short().dtype
