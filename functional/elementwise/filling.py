"""A number everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.identity import copy
from ...tensors.in_place import copy_into
from ...tensors.tensor import Tensor

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number


def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A tensor like `input` in which every element is `value`, a number or a tensor without dimensions.

    RuntimeError for a `value` with dimensions.

    >>> import tracegrad as tg
    >>> tg.fill(tg.tensor([1., 2.]), 3)
    tensor([3., 3.])
    """
    if isinstance(value, Tensor) and value.ndarray.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndarray.ndim} dimensions."
        )
    return copy_into(copy(input), value)
