"""A tensor's memory as compiled calls see it: layout and address, found once for each numpy array."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..autograd.tensor import Tensor
from ..runtime.program import address_of


class Layout(NamedTuple):
    """Equal layouts are one object, so they are compared with ``is``."""

    shape: tuple[int, ...]
    dtype: np.dtype
    contiguous: bool


_layouts: dict[Layout, Layout] = {}

Memory = tuple[np.ndarray, Layout, int]


def memory_of(tensor: Tensor) -> Memory:
    """The numpy array, its layout, its address; remembered on the tensor as long as it shows the same array."""
    known: Memory | None = tensor.memory
    if known is not None and known[0] is tensor.ndarray:
        return known
    array = tensor.ndarray
    layout = Layout(array.shape, array.dtype, array.flags.c_contiguous)
    tensor.memory = found = (array, _layouts.setdefault(layout, layout), address_of(array))
    return found
