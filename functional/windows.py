"""Windows into memory: overlapping parts, and strides of one's own, as views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ops import movement
from ..ops.complex_numbers.conjugated import bit_of
from ..ops.complex_numbers.parts import conj_view
from ..ops.places import strided as views
from ..tensors.arguments import axis_of, sizes_of
from ..tensors.composite import composite
from .places.arguments import as_row
from .shaping.strides import strided_view

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


@composite("UnfoldBackward0")
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of all windows of `size` along `dimension`, `step` apart, as a new last axis; a number counts as a row.

    An extent of n becomes ``(n - size) // step + 1``. RuntimeError for a `step` below 1, and for windows longer than
    the axis. Windows may overlap: the view is not to be written to then.

    >>> import tracegrad as tg
    >>> tg.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    shape = input.ndarray.shape
    axis = axis_of(dimension, len(shape))
    extent = shape[axis] if shape else 1
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > extent:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {extent} but size is {size}")
    windows = views.unfold(as_row(input), axis, size, step)
    return windows if shape else movement.reshape(windows, (size,))


@composite("AsStridedBackward0")
def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view of elements at ``storage_offset + sum(index * stride)`` of the memory behind `input`.

    Without `storage_offset` they begin where `input` does. The gradient is that of the elements that `input` shows.
    RuntimeError for negative sizes, strides or offsets, for elements that the memory does not have, and (unlike
    PyTorch) for memory with gaps.

    >>> import tracegrad as tg
    >>> tg.arange(4).as_strided((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    if bit_of(input.ndarray, input.buffer) == "conjugate":
        return conj_view(as_strided(conj_view(input), size, stride, storage_offset))
    return strided_view(input, sizes_of((size,)), tuple(stride), storage_offset)
