"""Windows into memory: overlapping parts, and strides of one's own, as views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops import movement
from ..ops.complex_numbers.conjugated import bit_of
from ..ops.complex_numbers.parts import conj_view
from ..ops.places import strided as views
from ..tensors.arguments import axis_of, sizes_of
from ..tensors.composite import composite
from .conversions import storage_offset as offset_of
from .places.arguments import as_row

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

    Without `storage_offset` they begin where `input` does. RuntimeError for negative sizes, strides or offsets, for
    elements that the memory does not have, and (unlike PyTorch) for memory that is not in the order of rows.

    >>> import tracegrad as tg
    >>> tg.arange(4).as_strided((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    if bit_of(input.ndarray, input.buffer) == "conjugate":
        return conj_view(as_strided(conj_view(input), size, stride, storage_offset))
    shape, strides = sizes_of((size,)), tuple(stride)
    memory, start = _memory_behind(input)
    offset = start if storage_offset is None else storage_offset
    if input.requires_grad and not memory.requires_grad and input.ndarray.flags.c_contiguous:
        memory, offset = input, offset - start  # a view that asks for gradients by itself: elements are its own
    check_strides(memory, shape, strides, offset)
    flat = movement.reshape(memory, (memory.ndarray.size,))
    return views.strided(flat, shape, strides, offset)


def _memory_behind(input: Tensor) -> tuple[Any, int]:
    """The tensor that shows the whole memory, row by row, and where in it `input` begins."""
    whole = input.buffer.whole
    if whole.flags.c_contiguous and input.ndarray.flags.c_contiguous and input.ndarray.size == whole.size:
        return input, 0
    base = input.base
    if base is None or base.steps or not whole.flags.c_contiguous:
        raise RuntimeError(
            "as_strided() of a tensor whose memory is not its own, or not in the order of rows; take contiguous() or "
            "clone() of it first"
        )
    return base, offset_of(input)


def check_strides(input: Tensor, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """In the order and the words of PyTorch."""
    if len(shape) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in strides):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}"
        )
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    itemsize, there = input.ndarray.itemsize, input.ndarray.size
    wanted = 1 + offset + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))
    if 0 not in shape and wanted > there:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {wanted * itemsize} are out of bounds for storage of size "
            f"{there * itemsize}"
        )
