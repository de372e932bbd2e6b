"""Python data as numpy values: the element type that PyTorch infers from it, and its words for what is no data."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..ops.types import DType, bool_, dtype_of, float64, get_default_dtype, number_dtype, promote_types
from ..tracing.watch import forbid
from .tensor import Tensor

#: What PyTorch's messages call the types that a number may not fit in.
_C_NAMES = {"int32": "int", "int64": "int64_t", "float32": "float", "float64": "double"}


def fitting(number: Any, dtype: DType) -> Any:
    """`number`, which is to be stored in `dtype`; RuntimeError where its value would be lost.

    Operands of arithmetic are not checked: they wrap around, or become infinite, as in PyTorch.
    """
    if isinstance(number, bool) or dtype.category == 0:
        return number
    limits: Any = np.finfo(dtype.numpy) if dtype.is_floating_point else np.iinfo(dtype.numpy)
    kind = float if dtype.is_floating_point else int
    if kind(limits.min) <= number <= kind(limits.max) or (dtype.is_floating_point and not math.isfinite(number)):
        return number
    raise RuntimeError(_overflow(_C_NAMES[dtype.name], number))


def _overflow(name: str, number: Any) -> str:
    return f"value cannot be converted to type {name} without overflow: {number!r}. Use a type that holds it."


def refuse_recording(name: str) -> None:
    """numpy works outside of recordings: what it computed would be the same numbers at each later call."""
    forbid(f"{name} of a numpy array", "Make the tensor outside and pass it as an argument.")


def inferred(number: Any) -> DType:
    """The type of a tensor that is made of one number: numpy's have theirs, Python's the default ones."""
    if isinstance(number, np.float64):
        return float64
    return dtype_of(number) if isinstance(number, np.generic) else number_dtype(number)


def values_of(data: Any, dtype: DType | None) -> np.ndarray:
    """A fresh numpy array of `data` in `dtype`, or in the type that PyTorch infers."""
    if isinstance(data, np.ndarray):
        refuse_recording("tensor()")
    if isinstance(data, (np.ndarray, np.generic)):
        return np.array(data, dtype=(dtype or dtype_of(data)).numpy, order="C")
    if not isinstance(data, (list, tuple, range)):
        if hasattr(data, "__array__"):
            return values_of(np.asarray(data), dtype)
        raise _no_data(data, dtype)
    lengths = _lengths(data)
    types: set[DType | np.dtype] = set()
    plain = _plain(data, lengths, (), types)
    return _converted(plain, dtype or _common(types), dtype)


def _common(types: set[DType | np.dtype]) -> DType:
    """The type that all are promoted to. Those that tensors lack may only stand beside a wider one."""
    known = [of for of in types if isinstance(of, DType)]
    foreign = [of for of in types if isinstance(of, np.dtype)]
    if not known and not foreign:
        return get_default_dtype()
    common = functools.reduce(promote_types, known) if known else None
    for of in foreign:
        if common is None or not np.can_cast(of, common.numpy):
            dtype_of(np.empty((), of))  # raises
    assert common is not None
    return common


def _type_in(data: np.ndarray | np.generic) -> DType | np.dtype:
    try:
        return dtype_of(data)
    except TypeError:
        if data.dtype.kind not in "biuf":
            raise
        return data.dtype


def _lengths(data: Any) -> tuple[int, ...]:
    """The extents of nested sequences, as their first items tell them; an array is a sequence, a tensor a number."""
    lengths: tuple[int, ...] = ()
    while isinstance(data, (list, tuple, range)):
        lengths = (*lengths, len(data))
        if not data:
            return lengths
        data = data[0]
    return (*lengths, *data.shape) if isinstance(data, np.ndarray) else lengths


def _plain(data: Any, lengths: tuple[int, ...], place: tuple[int, ...], types: set[DType | np.dtype]) -> Any:
    """`data` as lists of numbers and arrays, its extents checked; `types` collects the element types in it."""
    here = lengths[len(place) :]
    if isinstance(data, np.ndarray):
        refuse_recording("tensor()")
        types.add(_type_in(data))
        if data.shape != here:
            raise _ragged(here[0] if here else None, len(data) if data.ndim else None, place)
        return data
    if not isinstance(data, (list, tuple, range)):
        if here:
            text = f"not a sequence: item {list(place)} is a {type(data).__name__}, others have {here[0]} items"
            raise TypeError(text)
        return _element(data, types)
    if not here:
        if any(isinstance(of, DType) and of.is_floating_point for of in types):
            raise TypeError(f"must be real number, not {type(data).__name__}: item {list(place)} stands beside numbers")
        raise TypeError(f"{type(data).__name__!r} object cannot be interpreted as an integer, at item {list(place)}")
    if len(data) != here[0]:
        raise _ragged(here[0], len(data), place)
    return [_plain(item, lengths, (*place, i), types) for i, item in enumerate(data)]


def _ragged(expected: int | None, length: int | None, place: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"expected sequence of length {expected} at dim {len(place)} (got {length}), "
        f"in item {list(place)}. Rows of one tensor have one length; pad the short ones."
    )


def _element(data: Any, types: set[DType | np.dtype]) -> Any:
    """One number; tensors of one element are read."""
    if isinstance(data, Tensor):
        types.add(data.dtype)
        if data.ndarray.size != 1:
            raise _no_single_element(data.dtype)
        value = data.detach().tolist()
        while isinstance(value, list):
            (value,) = value
        return value
    if isinstance(data, (bool, int, float)):
        types.add(inferred(data))
        return data
    if isinstance(data, np.generic):
        types.add(_type_in(data))
        return data
    if isinstance(data, str) and not types:  # the first of all items tells what the others have to be
        raise ValueError("too many dimensions 'str': tensors are made of numbers. Convert text first, e.g. by float().")
    raise _no_data(data, None)


def _no_single_element(dtype: DType) -> Exception:
    if dtype.is_floating_point:
        return ValueError("only one element tensors can be converted to Python scalars. Use stack() to join tensors.")
    text = "only integer tensors of a single element can be converted to an index. Use stack() to join tensors."
    return TypeError(text)


def _no_data(data: Any, dtype: DType | None) -> Exception:
    name = type(data).__name__
    if isinstance(data, str):
        return TypeError(f"new(): invalid data type {name!r}; tensors are made of numbers")
    if isinstance(data, (complex, np.complexfloating)):
        return TypeError(f"new(): invalid data type {name!r}: there are no complex tensors here. Use two real ones.")
    if dtype is None:
        return RuntimeError(f"Could not infer dtype of {name}; tensors are made of numbers")
    return TypeError(f"must be real number, not {name}")


def _converted(plain: Any, dtype: DType, asked: DType | None) -> np.ndarray:
    try:
        return np.array(plain, dtype=bool if dtype is bool_ else dtype.numpy)
    except (OverflowError, ValueError) as error:
        if dtype.category != 1:
            raise
        if asked is not None and "C long" not in str(error):
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow ({error})") from None
        text = f"Overflow when unpacking long long: a number does not fit in int64 ({error}). Write it as a float."
        raise ValueError(text) from None
