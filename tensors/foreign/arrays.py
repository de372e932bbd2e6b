"""numpy arrays whose memory tensors cannot show."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


def refuse_layout(data: Any) -> None:
    """ValueError for an array with strides back or between elements, or in a foreign byte order; for nothing else."""
    if not isinstance(data, np.ndarray):
        return
    itemsize, strides = data.itemsize, data.strides
    for stride in strides:
        if stride < 0 or (itemsize and stride % itemsize):
            break
    else:
        if data.dtype.isnative:
            return
    _refuse(itemsize, strides)


def _refuse(itemsize: int, strides: tuple[int, ...]) -> NoReturn:
    if min(strides, default=0) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array with array.copy().)"
        )
    if itemsize and any(stride % itemsize for stride in strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory: array.copy()."
        )
    raise ValueError(
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
        "currently not supported: convert it first, e.g. array.astype(array.dtype.newbyteorder('='))."
    )
