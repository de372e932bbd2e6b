"""What PyTorch's files call to make tensors: each shows a storage by an offset, a shape and strides.

The functions check all that they are given, since a file may hold anything. They allocate nothing but what a lazy
conjugation or negation of a storage needs, once for each storage.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from ..ops.array import Array, Buffer
from ..ops.core import Step
from ..ops.movement import reshape_primitive, slice_primitive, transpose_primitive
from ..ops.places.strided import strided_primitive
from ..ops.types import DType
from ..tensors.blank import blank
from ..tensors.meta.meta_tensor import meta_shown, meta_strided
from ..tensors.tensor import Tensor, make
from .meta_storage import MetaStorage
from .saved import CLASSES
from .storages import TypedStorage
from .untyped_storage import UntypedStorage

#: The name under which parameters are known.
PARAMETER = f"{__name__.partition('.')[0]}.nn.parameter.Parameter"

_MOST_AXES = 32  # numpy 1 has no more
_LARGEST = 2**62
_MOST_BLANK = 2**46  # bytes: addresses are taken for them, no memory


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """A leaf that shows a typed storage; ValueError for what does not lie in it."""
    _require_no_hooks(backward_hooks)
    if type(requires_grad) is not bool:
        raise ValueError(f"requires_grad is {requires_grad!r}")
    made = _rebuild_tensor(_with_metadata(storage, metadata or {}), storage_offset, size, stride)
    return made.requires_grad_() if requires_grad else made


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    if not isinstance(storage, TypedStorage):
        raise ValueError(f"a tensor of a storage that is a {type(storage).__name__}")
    _require_numbers((storage_offset,))
    _require_numbers(size)
    _require_numbers(stride)
    return shown(storage.untyped(), storage.dtype, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """A leaf that shows bytes as elements of `dtype`."""
    if not isinstance(dtype, DType) or not isinstance(storage, UntypedStorage):
        raise ValueError("a tensor of an element type that tracegrad does not have, or of no storage of bytes")
    typed = TypedStorage(wrap_storage=storage, dtype=dtype)
    return _rebuild_tensor_v2(typed, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """A leaf on the device meta, which has no numbers and takes no memory."""
    if not isinstance(dtype, DType) or type(requires_grad) is not bool:
        raise ValueError("a tensor of an element type that tracegrad does not have")
    _require_numbers(size)
    _require_numbers(stride)
    if len(size) != len(stride) or np.prod([float(extent) for extent in size]) * dtype.itemsize >= _MOST_BLANK:
        raise ValueError(f"a tensor on the device meta of sizes {list(size)} and strides {list(stride)}")
    return meta_strided(size, stride, dtype).requires_grad_(requires_grad)


def _require_no_hooks(hooks: Any) -> None:
    if type(hooks) is not OrderedDict or hooks:
        raise ValueError("a tensor with backward hooks, which files do not hold")


def _require_numbers(numbers: Any) -> None:
    if not isinstance(numbers, tuple) or len(numbers) > _MOST_AXES:
        raise ValueError(f"sizes and strides are tuples of at most {_MOST_AXES} integers")
    if not all(type(number) is int and 0 <= number < _LARGEST for number in numbers):
        raise ValueError("sizes, strides and offsets are integers from 0 on")


# -------------------------------------------------------------------------------------------------- where memory shows


def shown(storage: UntypedStorage, dtype: DType, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """The elements of a storage at ``offset + sum(index * stride)``. ValueError if it does not have them."""
    if storage.nbytes() % dtype.itemsize:
        raise ValueError(f"{storage.nbytes()} bytes are no whole number of elements of {dtype.name}")
    if isinstance(storage, MetaStorage):
        count = storage.nbytes() // dtype.itemsize
        _require_inside(count, dtype.itemsize, offset, size, stride)
        return meta_shown(count, dtype, offset, size, stride)
    memory, buffer = storage.buffer(dtype)
    _require_inside(memory.size, memory.itemsize, offset, size, stride)
    view = np.ndarray(size, memory.dtype, memory, offset * memory.itemsize, [step * memory.itemsize for step in stride])
    if buffer is None:
        # the tensor that shows all of the memory, in whatever order, is the one that views are views of
        buffer = Buffer(view if offset == 0 and _is_dense(view, memory.size) else memory)
        storage.show(dtype, buffer)
    return make(view, buffer, _steps(buffer.whole, view, offset, stride))


def _require_inside(count: int, itemsize: int, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> None:
    if len(size) != len(stride):
        raise ValueError("mismatch in length of strides and shape")
    last = offset + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True))
    inside = offset <= count if 0 in size else last < count
    reach = sum(extent * max(step, 1) for extent, step in zip(size, stride, strict=True)) * itemsize
    if not inside or reach >= _LARGEST or np.prod([float(extent) for extent in size]) >= _LARGEST:
        raise ValueError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{itemsize} are out of bounds for storage of size {count * itemsize}"
        )


def _is_dense(view: np.ndarray, count: int) -> bool:
    """Whether a view of `count` elements shows each of them once."""
    if view.size != count:
        return False
    expected = view.itemsize
    for step, extent in sorted(zip(view.strides, view.shape, strict=True)):
        if extent > 1:
            if step != expected:
                return False
            expected *= extent
    return True


def _steps(whole: np.ndarray, view: np.ndarray, offset: int, stride: tuple[int, ...]) -> tuple[Step, ...]:
    """View operations that lead from `whole`, which is dense, to `view` of the same memory."""
    if view.shape == whole.shape and view.strides == whole.strides and offset == 0:
        return ()
    steps = _in_a_row(whole)
    if not view.flags.c_contiguous or view.size == 0:
        return (*steps, _step(strided_primitive, shape=view.shape, strides=stride, offset=offset))
    if view.size != whole.size:
        steps = (*steps, _step(slice_primitive, starts=(offset,), stops=(offset + view.size,), steps=(1,)))
    return (*steps, _step(reshape_primitive, shape=view.shape)) if view.ndim != 1 else steps


def _in_a_row(whole: np.ndarray) -> tuple[Step, ...]:
    steps = []
    if not whole.flags.c_contiguous:
        order = tuple(sorted(range(whole.ndim), key=lambda axis: -whole.strides[axis]))
        steps.append(_step(transpose_primitive, permutation=order))
    if whole.ndim != 1:
        steps.append(_step(reshape_primitive, shape=(whole.size,)))
    return tuple(steps)


def _step(primitive: Any, **params: Any) -> Step:
    return Step(primitive, tuple(params.items()))


def _with_metadata(storage: Any, metadata: Any) -> Any:
    """The storage, or what it is when its elements are conjugated or negated as the file says: another one, made once.

    PyTorch does this when the tensor is used; here it is done when the file is read.
    """
    known = type(metadata) is dict and metadata.keys() <= {"conj", "neg"}
    if not known or not all(type(flag) is bool for flag in metadata.values()):
        raise ValueError("a tensor with other properties than conj and neg")
    if not any(metadata.values()) or not isinstance(storage, TypedStorage) or storage.device.type == "meta":
        return storage
    key = (storage.dtype, *(metadata.get(name, False) for name in ("conj", "neg")))
    changed = storage.untyped().changed
    if key not in changed:
        changed[key] = UntypedStorage(_changed(storage.untyped(), *key).view(np.uint8))
    return TypedStorage(wrap_storage=changed[key], dtype=storage.dtype)


def _changed(storage: UntypedStorage, dtype: DType, conj: bool, neg: bool) -> np.ndarray:
    values = storage.buffer(dtype)[0]
    values = np.conj(values) if conj else values
    return np.negative(values) if neg else values


def refresh(storage: UntypedStorage) -> None:
    """Make what is derived of a storage anew: its bytes have come after the tensors that show them."""
    for key, derived in storage.changed.items():
        np.copyto(derived.buffer(key[0])[0], _changed(storage, *key))


# -------------------------------------------------------------------------------------- parameters and other classes


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """A parameter over `data`."""
    _require_no_hooks(backward_hooks)
    if not isinstance(data, Tensor) or type(requires_grad) is not bool:
        raise ValueError("a parameter of something else than a tensor")
    return CLASSES[PARAMETER](data, requires_grad)


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """The same with attributes of the program's own."""
    return with_attributes(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def as_class(tensor: Tensor, kind: type[Tensor], state: Any) -> Any:
    """`tensor` as a `kind`, with attributes."""
    if type(tensor) is not kind:
        made: Tensor = blank(kind)
        Array.__init__(made, tensor.ndarray, tensor.buffer, tensor.steps)
        tensor = made.requires_grad_() if tensor.requires_grad else made
    return with_attributes(tensor, state)


def with_attributes(tensor: Any, state: Any) -> Any:
    """`tensor` with the attributes of a dict; ValueError for names that tensors have already."""
    if type(state) is not dict:
        raise ValueError(f"the attributes of a tensor are a {type(state).__name__}")
    for name, value in state.items():
        if type(name) is not str or (hasattr(type(tensor), name) and name != "_is_param"):
            raise ValueError(f"a tensor with the attribute {name!r}")
        vars(tensor)[name] = value
    if state.get("_is_param") is True:
        tensor.is_parameter = True
    return tensor


def _rebuild_from_type_v2(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    """What `function` makes, as a `kind` with a state: the program's own attributes, or what its class takes."""
    return restored_as(function(*arguments), kind, state)


def restored_as(made: Any, kind: Any, state: Any) -> Any:
    """`made` as a `kind` with a state, which a ``__setstate__`` of its class's own takes."""
    own = getattr(kind, "__setstate__", None)
    if own is None or own is getattr(Tensor, "__setstate__", None):
        attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
        return as_class(made, kind, {**(attributes or {}), **(slots or {})})
    made = as_class(made, kind, {})
    made.__setstate__(state)
    return made
