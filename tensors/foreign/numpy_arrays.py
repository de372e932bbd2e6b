"""Tensors over the memory of numpy arrays."""

from __future__ import annotations

import numpy as np

from ...ops.exposure import expose
from ...ops.types import dtype_of
from ...tracing.user_warning import warn_user
from ..data import refuse_recording
from ..tensor import Tensor, make
from .arrays import refuse_layout


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares `array`'s memory; TypeError for anything but a numpy array of a supported type.

    ValueError for memory that no tensor can show: negative strides, strides that are no multiple of an element, another
    byte order than the machine's. Over a read-only array the tensor is read-only, too, which a warning says (PyTorch's
    tensor would write through).

    >>> import numpy as np
    >>> import tracegrad as tg
    >>> array = np.zeros(2)
    >>> tg.from_numpy(array).fill_(3)
    tensor([3., 3.], dtype=tracegrad.float64)
    >>> array
    array([3., 3.])
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__}); use tensor() for other data")
    refuse_layout(array)
    dtype_of(array)
    refuse_recording("from_numpy()")
    if not array.flags.writeable:
        warn_user(
            "The given NumPy array is not writable, and neither is the tensor over its memory: writes to it are errors "
            "(PyTorch's writes through). Copy the array to have one that can be written to, e.g. tensor(array).",
        )
    return _over(array)


def over(array: np.ndarray) -> Tensor:
    """A tensor over the memory of an array; TypeError for types that tensors lack."""
    dtype_of(array)
    return _over(array)


def _over(array: np.ndarray) -> Tensor:
    # A view of its own, so that shape, type and flags stay; of subclasses the memory, without their arithmetic.
    plain = array.view(np.ndarray)
    expose(plain)
    return make(plain)
