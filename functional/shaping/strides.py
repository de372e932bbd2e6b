"""Any strides over the memory behind a tensor, whatever part of it the tensor shows, and their derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops import movement
from ...ops.array import eager
from ...ops.complex_numbers.conjugated import bit_of
from ...ops.complex_numbers.parts import view_as_complex, view_as_real
from ...ops.indexing import index_add, take
from ...ops.memory import overlaps_itself
from ...ops.places.strided import strided, strided_places
from ...ops.sources import full, zeros
from ...ops.types import Type
from ...tape.grad_mode import is_recording, no_grad
from ...tape.nodes import Node
from ...tape.tangents import levels
from ...tensors.tensor import make
from ...tracing.watch import forbid, watcher
from ..conversions import storage_offset as offset_of

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

Shape = tuple[int, ...]


def strided_view(input: Tensor, shape: Shape, strides: Shape, storage_offset: int | None) -> Tensor:
    """A view of the memory behind `input`: of `input` itself where that shows all the elements without gaps."""
    check_steps(shape, strides, storage_offset)
    inside = _seen_inside(input, shape, strides, storage_offset)
    return _seen_beyond(input, shape, strides, storage_offset) if inside is None else inside


def check_steps(shape: Shape, strides: Shape, offset: int | None) -> None:
    """In the order and the words of PyTorch."""
    if len(shape) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in strides):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}"
        )
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if offset is not None and offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")


def check_strides(input: Tensor, shape: Shape, strides: Shape, offset: int) -> None:
    """`check_steps`, and RuntimeError for elements that the memory, which `input` shows, does not have."""
    check_steps(shape, strides, offset)
    itemsize, there = input.ndarray.itemsize, input.ndarray.size
    wanted = 1 + _last(shape, strides, offset)
    if 0 not in shape and wanted > there:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {wanted * itemsize} are out of bounds for storage of size "
            f"{there * itemsize}"
        )


def _last(shape: Shape, strides: Shape, offset: int) -> int:
    return offset + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))


def _in_memory_order(x: Tensor) -> Tensor | None:
    """The elements of `x` as they follow each other in memory, a view; None if there are gaps or repetitions."""
    array = x.ndarray
    if array.flags.c_contiguous:
        return movement.reshape(x, (array.size,))
    order = sorted(range(array.ndim), key=lambda axis: (-array.strides[axis], axis))
    if not array.transpose(order).flags.c_contiguous:
        return None
    return movement.reshape(movement.transpose(x, tuple(order)), (array.size,))


def _seen_inside(input: Tensor, shape: Shape, strides: Shape, storage_offset: int | None) -> Tensor | None:
    """The view as one of `input`; None where it shows elements that `input` does not, or `input` has gaps."""
    flat = _in_memory_order(input)
    if flat is None:
        return None
    begin = 0
    if storage_offset is not None:
        # Where a tensor begins in its memory is no part of what is compared of a compiled function's arguments.
        forbid("as_strided() with storage_offset", "Leave it out: the view begins where the tensor does.")
        begin = storage_offset - offset_of(input)
    if begin < 0 or (0 not in shape and _last(shape, strides, begin) >= input.ndarray.size):
        return None
    return strided(flat, shape, strides, begin)


def _seen_beyond(input: Tensor, shape: Shape, strides: Shape, storage_offset: int | None) -> Tensor:
    """The view as one of the whole memory. Its gradient is that of the elements that `input` shows, as in PyTorch."""
    forbid("as_strided() beyond the elements that the tensor shows", "Give it the tensor that owns the memory.")
    if levels.open is not None and levels.open.has_tangent(input):
        raise NotImplementedError(
            "Trying to use forward AD with as_strided() of elements that the dual tensor does not show, which are "
            "without a tangent. Give it the tensor that owns the memory."
        )
    eager().read(input.detach(), "as_strided()")
    begin = offset_of(input)
    with no_grad():
        memory = _whole_row(input)
        offset = begin if storage_offset is None else storage_offset
        check_strides(memory, shape, strides, offset)
        shown = strided(memory, shape, strides, offset)
    base = input.base
    out: Any = make(shown.ndarray, shown.buffer, shown.steps)
    if base is not None and not base.steps:
        out.note_view_of(base)
    else:
        out.note_view_of(input)
        out.viewed_without_grad = True  # there are no steps from `input` by which it could be made again
    if input.requires_grad and is_recording():
        out.attach(_StridedNode(input, begin, memory.type_, (shape, strides, offset)), 0)
    return out


def _whole_row(x: Tensor) -> Any:
    """The whole memory behind `x` as a row of numbers of its type. RuntimeError where numpy has no such view."""
    whole: Any = make(x.buffer.whole, x.buffer, ())
    row = None if bit_of(x.ndarray, x.buffer) else _in_memory_order(whole)
    if row is not None and x.dtype.is_complex and not whole.dtype.is_complex:
        row = view_as_complex(movement.reshape(row, (row.ndarray.size // 2, 2))) if row.ndarray.size % 2 == 0 else None
    elif row is not None and whole.dtype.is_complex and not x.dtype.is_complex:
        row = movement.reshape(view_as_real(row), (2 * row.ndarray.size,))
    if row is None or row.dtype is not x.dtype:
        raise RuntimeError(
            "as_strided() of a tensor whose memory has gaps, or holds numbers of another kind; take contiguous() or "
            "clone() of it first"
        )
    return row


class _StridedNode(Node):
    """Derivative of a view of a memory for a tensor that shows another part of it."""

    def __init__(self, input: Any, begin: int, memory: Type, view: tuple[Shape, Shape, int]) -> None:
        super().__init__("AsStridedBackward0", (input.gradient_edge(),))
        self.rename("AsStridedBackward0")
        self.memory, self.view = memory, view
        array = input.ndarray
        steps = tuple(stride // array.itemsize for stride in array.strides)
        self.input, self.repeats = (array.shape, steps, begin), overlaps_itself(array)
        listening = watcher()
        if listening is not None:
            self.origin = listening.origin()

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        """What comes to each place of the memory; where `input` shows one several times, each time an equal part."""
        (g,) = cotangents
        if g is None:
            return [None]
        places = strided_places(*self.input)
        there = take(index_add(zeros(self.memory), strided_places(*self.view), g), places)
        if self.repeats:
            once = full(self.input[0], 1, self.memory.dtype)
            there = there / take(index_add(zeros(self.memory), places, once), places)
        return [there]
