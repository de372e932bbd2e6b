"""A tensor's memory under another size or type, and Python functions of its elements.

A recording cannot repeat what happens here: compiled functions are recorded around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...ops.complex_numbers.conjugated import bit_of
from ...ops.complex_numbers.parts import conj_view
from ...ops.exposure import expose, tell_reader
from ...ops.places.strided import strided
from ...ops.types import DType, dtype_from
from ...tape.grad_mode import is_recording, no_grad
from ...tensors.arguments import named_sizes, numbers_called, sizes_of
from ...tensors.calling.refusals import no_tensor
from ...tensors.creation import from_numpy
from ...tensors.data import as_element, fitting
from ...tensors.in_place import assign, refuse_inference
from ...tensors.tensor import Tensor, make
from .. import shapes
from ..conversions import storage_offset as offset_of
from ..reductions import in_dtype
from .strides import check_strides

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number
    from ...tensors.layouts.formats import memory_format
    from ...tensors.tensor import Tensor


_ALL_FORMATS = "memory formats other than the contiguous one are not there"


def _memory_of(x: Tensor, purpose: str) -> np.ndarray:
    """The elements of the whole memory behind `x`, in a row in its order; a copy where they have gaps."""
    eager().read(x.detach(), purpose)
    whole = x.buffer.whole
    order = sorted(range(whole.ndim), key=lambda axis: -whole.strides[axis])
    flat = whole.transpose(order).reshape(-1)
    expose(flat)
    tell_reader(x.buffer)
    return flat


def _show(x: Tensor, values: Tensor) -> Tensor:
    """Let `x` be these numbers from now on."""
    refuse_inference(x)
    x.buffer.version = version = x.buffer.version + 1  # for views, which keep the memory that was
    x.data = values
    x.buffer.version = version
    return x


def _part(memory: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Tensor:
    """A view of a row of elements, which knows of all of them: what it shows may grow again."""
    if start == 0 and memory.size == np.prod(shape, dtype=np.int64) and strides == _row_strides(shape):
        return make(memory.reshape(shape))
    with no_grad():
        return strided(make(memory), shape, strides, start)


@numbers_called("size", "resize_")
def _resized(self: Tensor, *size: int | Sequence[int]) -> Tensor:
    wanted = sizes_of(size)
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad: detach() it, or make a new tensor")
    if any(n < 0 for n in wanted):
        raise RuntimeError(f"numel: integer multiplication overflow: sizes must not be negative, got {list(wanted)}")
    if wanted == self.ndarray.shape:
        return self
    if bit_of(self.ndarray, self.buffer) == "conjugate":
        self.data = conj_view(_resized(conj_view(self.detach()), wanted))
        return self
    memory, start = _memory_of(self, "resize_()"), offset_of(self)
    count = int(np.prod(wanted, dtype=np.int64))
    if start + count > memory.size:
        larger = np.zeros(start + count, memory.dtype)
        larger[: memory.size] = memory
        memory = larger
    return _show(self, _part(memory, wanted, _row_strides(wanted), start))


def resize_(
    self: Tensor,
    *size: int | Sequence[int],
    memory_format: memory_format | None = None,
    **named: int | Sequence[int] | DType,
) -> Tensor:
    """Give the tensor another size, in the memory that it shows; where that is too small, in new memory.

    Elements keep their order in memory; what was not there is 0 (PyTorch: anything). RuntimeError for tensors that
    require grad, and for negative sizes. Difference: other views of the memory keep the old one where it is too small.

    >>> import tracegrad as tg
    >>> tg.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    _refuse_formats(memory_format)
    return _resized(self, *size, **named)


def _refuse_formats(memory_format: Any) -> None:
    if memory_format is not None and str(memory_format).rpartition(".")[2] not in (
        "contiguous_format",
        "preserve_format",
    ):
        raise RuntimeError(f"resize_() got memory_format={memory_format!r}: {_ALL_FORMATS}")


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """`resize_` to the size of another tensor.

    >>> import tracegrad as tg
    >>> tg.arange(6).resize_as_(tg.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    if not isinstance(the_template, Tensor):
        raise no_tensor("resize_as_", "the_template", 1, (the_template,), the_template)
    _refuse_formats(memory_format)
    return _resized(self, the_template.ndarray.shape)


def set_(
    self: Tensor,
    source: Tensor | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Let the tensor show the memory of `source` (with strides of its own, see `as_strided`), or nothing.

    `source` has the same type. RuntimeError for another one, for elements that the memory does not have, and, unless in
    ``no_grad()``, for tensors that require grad.

    >>> import tracegrad as tg
    >>> tg.ones(1).set_(tg.arange(6.0), 1, (2,), (3,))
    tensor([1., 4.])
    """
    if is_recording() and (self.requires_grad or getattr(source, "requires_grad", False)):
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation: detach() it first"
        )
    if source is None:
        return _show(self, make(np.zeros(0, self.ndarray.dtype)))
    if source.dtype is not self.dtype:
        raise RuntimeError(f"Could not set tensor of type {source.dtype.title} to a tensor of type {self.dtype.title}")
    if size is None:
        eager().read(source.detach(), "set_()")
        expose(source.ndarray)
        tell_reader(source.buffer)
        return _show(self, make(source.ndarray))
    memory, shape = _memory_of(source, "set_()"), sizes_of((size,))
    strides = _row_strides(shape) if stride is None else tuple(stride)
    check_strides(make(memory), shape, strides, storage_offset)
    return _show(self, _part(memory, shape, strides, storage_offset))


def _row_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape)))


def view(input: Tensor, *shape: int | Sequence[int] | DType, **named: int | Sequence[int] | DType) -> Tensor:
    """The elements in order under another shape (one extent may be -1), or the memory's bits as another type.

    RuntimeError where strides or sizes do not allow a view. A view of another type has no gradient.

    >>> import tracegrad as tg
    >>> tg.arange(4).view(2, -1).shape, tg.tensor([1.0]).view(tg.int32)
    (tracegrad.Size([2, 2]), tensor([1065353216], dtype=tracegrad.int32))
    """
    if not shape:
        if "size" in named:
            named["size"] = named_sizes("view", "size", named["size"])
        shape = tuple(named.pop(name) for name in ("size", "dtype") if name in named)
    if named or not shape:
        raise TypeError(f"view() takes a size or a dtype, got {', '.join(named) or 'nothing'}")
    first: Any = shape[0]
    dtype = dtype_from(first) if type(first) is type else first
    if isinstance(dtype, DType):
        return shapes.view(input, input.ndarray.shape) if dtype is input.dtype else reinterpreted(input, dtype)
    sizes: Any = shape
    return shapes.view(input, *sizes)


def reinterpreted(input: Tensor, dtype: DType) -> Tensor:
    """The memory's bits as another type, without a gradient. RuntimeError where sizes do not fit."""
    if bit := bit_of(input.ndarray, input.buffer):
        raise RuntimeError(
            f"torch.Tensor.view is not supported for {bit} view tensors when converting to a different dtype."
        )
    old, new = input.dtype, dtype
    shape, width, wanted = input.ndarray.shape, old.itemsize, new.itemsize
    if width != wanted:
        words = f"to view {old.title} as {new.title} (different element sizes)"
        if not shape:
            raise RuntimeError(f"self.dim() cannot be 0 {words}")
        if width < wanted and shape[-1] % (wanted // width):
            raise RuntimeError(f"self.size(-1) must be divisible by {wanted // width} {words}, but got {shape[-1]}")
        if shape[-1] > 1 and input.ndarray.strides[-1] != width:
            raise RuntimeError(f"self.stride(-1) must be 1 {words}, but got {input.ndarray.strides[-1] // width}")
    values = eager().read(input.detach(), "view(dtype)")
    expose(values)
    tell_reader(input.buffer)
    return from_numpy(values.view(new.numpy))


# --------------------------------------------------------------------------------------- functions of the elements


def apply_(self: Tensor, callable: Callable[[Number], Number]) -> Tensor:
    """Store ``callable(element)`` in place of each element, one after the other; returns the tensor.

    RuntimeError for tensors that require grad. Slow: for what no operation does.

    >>> import tracegrad as tg
    >>> tg.tensor([1.0, 2.0]).apply_(lambda x: x * 10)
    tensor([10., 20.])
    """
    return _mapped(self, "apply_", callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Number, Number], Number]) -> Tensor:
    """Store ``callable(element, other)`` for the elements of this tensor and of `tensor`, which is broadcast.

    TypeError for another type, RuntimeError for tensors that require grad. Slow: for what no operation does.

    >>> import tracegrad as tg
    >>> tg.tensor([1.0, 2.0]).map_(tg.tensor([10.0]), lambda x, y: x + y)
    tensor([11., 12.])
    """
    if tensor.dtype is not self.dtype:
        raise TypeError(f"map_: expected a tensor of {self.dtype!r} for 'other' (got {tensor.dtype!r})")
    return _mapped(self, "map_", callable, tensor)


def _mapped(self: Tensor, name: str, callable: Callable[..., Any], *others: Any) -> Tensor:
    if any(x.requires_grad for x in (self, *others)):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    shape = self.ndarray.shape
    values = [eager().read(x.detach(), f"{name}()") for x in (self, *others)]
    rows = [np.broadcast_to(array, shape).reshape(-1).tolist() for array in values]
    number = float if self.dtype.is_floating_point else bool if self.dtype.category == 0 else int
    results = [
        fitting(as_element(number(callable(*elements)), self.dtype), self.dtype) for elements in zip(*rows, strict=True)
    ]
    with no_grad():
        return assign(self, eager().literal(np.array(results, self.dtype.numpy).reshape(shape)))


def to_dense(self: Tensor, dtype: DType | None = None, *, masked_grad: bool = True) -> Tensor:
    """The tensor itself, which is dense, converted to `dtype` if that is given.

    >>> import tracegrad as tg
    >>> tg.ones(2).to_dense()
    tensor([1., 1.])
    """
    return in_dtype(self, dtype)
