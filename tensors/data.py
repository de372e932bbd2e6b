"""Python data as numpy values: the element type that PyTorch infers from it, and its words for what is no data."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from ..ops.core import switch
from ..ops.types import (
    FLOATING,
    INTEGER,
    NUMBERS,
    DType,
    array_in,
    bfloat16,
    bool_,
    complex128,
    dtype_of,
    float16,
    float64,
    get_default_dtype,
    int8,
    int16,
    number_dtype,
    number_in,
    promote_types,
    uint8,
)
from ..tracing.watch import forbid
from .constructor import reading
from .tensor import Tensor

#: What PyTorch's messages call the types that a number may not fit in, where it is another name than theirs.
_C_NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t"}


def fitting(number: Any, dtype: DType, name: str = "") -> Any:
    """`number`, which is to be stored in `dtype`; RuntimeError (calls the type `name`) where its value would be lost.

    Operands of arithmetic are not checked: they wrap around, or become infinite, as in PyTorch. A negative number in
    uint8 wraps around, too.
    """
    if isinstance(number, bool) or dtype is bool_:
        return number
    if isinstance(number, complex):
        return _fitting_complex(number, dtype, name)
    low, high = _limits(dtype)
    if dtype is uint8 and isinstance(number, float):
        low = 0
    if low <= number <= high or (dtype.category >= FLOATING and not math.isfinite(number)):
        return number
    raise RuntimeError(_overflow(name or _C_NAMES.get(dtype.name, dtype.c_name), number))


@functools.cache
def _limits(dtype: DType) -> tuple[float, float]:
    if dtype.category >= FLOATING:
        largest = float(ml_dtypes.finfo(dtype.numpy).max)
        return -largest, largest
    limits = np.iinfo(dtype.numpy)
    return (int(limits.min) if dtype.is_signed else -int(limits.max)), int(limits.max)


def as_element(number: Any, dtype: DType) -> Any:
    """`number`, which is to be written to elements: what is too large for 16 bits is infinite there, no error, as is
    only a complex number in a type that does not hold it."""
    if isinstance(number, complex):
        return fitting(number, dtype)
    if dtype not in (float16, bfloat16) or not isinstance(number, (int, float)):
        return number
    low, high = _limits(dtype)
    return number if low <= number <= high else float(number_in(number, dtype))


def _fitting_complex(number: complex, dtype: DType, name: str) -> Any:
    if dtype.is_complex:
        return complex(fitting(number.real, dtype, name), fitting(number.imag, dtype, name))
    if number.imag == 0:
        return fitting(number.real, dtype, name)
    called = _C_NAMES.get(dtype.name, float64.c_name if dtype.itemsize == 2 else dtype.c_name)
    raise RuntimeError(_overflow(called, number))


def _overflow(name: str, number: Any) -> str:
    return f"value cannot be converted to type {name} without overflow: {number!r}. Use a type that holds it."


def refuse_recording(name: str) -> None:
    """numpy works outside of recordings: what it computed would be the same numbers at each later call."""
    forbid(f"{name} of a numpy array", "Make the tensor outside and pass it as an argument.")


def inferred(number: Any) -> DType:
    """The type of a tensor that is made of one number: numpy's have theirs, Python's the default ones."""
    if isinstance(number, (np.float64, np.complex128)):  # which are Python's numbers, too, and may be stand-ins
        return float64 if isinstance(number, np.float64) else complex128
    return dtype_of(number) if isinstance(number, np.generic) else number_dtype(number)


def values_of(data: Any, dtype: DType | None) -> np.ndarray:
    """A fresh numpy array of `data` in `dtype`, or in the type that PyTorch infers."""
    if type(data) is list and data and PYTHON_NUMBERS.issuperset(kinds := set(map(type, data))):
        widest = 0.0 if float in kinds else 0 if int in kinds else False
        return _converted(data, dtype or number_dtype(widest), dtype)
    if isinstance(data, np.ndarray):
        refuse_recording("tensor()")
    if isinstance(data, (np.ndarray, np.generic)):
        of = dtype_of(data)
        array = np.asarray(data)
        return np.array(array if dtype in (None, of) else array_in(array, dtype), dtype=(dtype or of).numpy, order="C")
    data = _opened(data)
    if isinstance(data, np.ndarray):
        return values_of(data, dtype)
    if not isinstance(data, _SEQUENCES):
        raise _no_data(data, dtype)
    lengths = _lengths(data)
    types: set[DType | np.dtype] = set()
    plain = _plain(data, lengths, (), types, dtype)
    of = dtype or _common(types)
    if not of.is_complex and of is not bool_ and any(given.is_complex for given in types if isinstance(given, DType)):
        raise _no_data(0j, of)
    return _converted(plain, of, dtype)


reading.values_of = values_of

#: Python's own numbers: a row of nothing else is looked at as a whole.
PYTHON_NUMBERS = frozenset((bool, int, float))
#: These and numpy's, of which one stands for a row of its type.
EXACT_NUMBERS = PYTHON_NUMBERS | {np.dtype(code).type for code in "?bBhHiIlLqQefdFD"}
#: The sequences that need no look at their protocol.
_SEQUENCES = (list, tuple, range)
#: What stands for itself, though it has items.
_NOT_OPENED = (*_SEQUENCES, *NUMBERS, np.ndarray, np.generic, Tensor, str, bytes, Mapping)


def _opened(data: Any) -> Any:
    """An array of what numpy makes one of (a column of a table), a list of other sequences (a deque, a buffer)."""
    if isinstance(data, _NOT_OPENED) or isinstance(data, type):
        return data
    if hasattr(data, "__array__"):
        array = np.asarray(data)
        if array.dtype.kind != "O":
            return array
    return list(data) if hasattr(data, "__len__") and hasattr(data, "__getitem__") else data


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
        if data.dtype.kind not in "biufc":
            raise
        return data.dtype


def _lengths(data: Any) -> tuple[int, ...]:
    """The extents of nested sequences, as their first items tell them; an array is a sequence, a tensor a number."""
    lengths: tuple[int, ...] = ()
    while isinstance(data, _SEQUENCES):
        lengths = (*lengths, len(data))
        if not data:
            return lengths
        data = _opened(data[0])
    return (*lengths, *data.shape) if isinstance(data, np.ndarray) else lengths


def _plain(
    data: Any, lengths: tuple[int, ...], place: tuple[int, ...], types: set[DType | np.dtype], dtype: DType | None
) -> Any:
    """`data` as lists of numbers and arrays, its extents checked; `types` collects the element types in it."""
    here, data = lengths[len(place) :], _opened(data)
    if isinstance(data, np.ndarray):
        refuse_recording("tensor()")
        types.add(_type_in(data))
        if data.shape != here:
            raise _ragged(here[0] if here else None, len(data) if data.ndim else None, place)
        return data
    if not isinstance(data, _SEQUENCES):
        if here:
            text = f"not a sequence: item {list(place)} is a {type(data).__name__}, others have {here[0]} items"
            raise TypeError(text)
        return _element(data, types, dtype)
    if not here:
        if any(isinstance(of, DType) and of.category >= FLOATING for of in types):
            raise TypeError(f"must be real number, not {type(data).__name__}: item {list(place)} stands beside numbers")
        raise TypeError(f"{type(data).__name__!r} object cannot be interpreted as an integer, at item {list(place)}")
    if len(data) != here[0]:
        raise _ragged(here[0], len(data), place)
    if len(here) == 1 and EXACT_NUMBERS.issuperset(map(type, data)):
        for number in {type(item): item for item in data}.values():
            _element(number, types, dtype)
        return list(data)
    if len(here) == 1 and not switch.stack and all(map(_is_plain_number, data)):
        numbers: Any = data
        types.update([each.dtype for each in numbers])
        return [each.ndarray.item() for each in numbers]
    return [_plain(item, lengths, (*place, i), types, dtype) for i, item in enumerate(data)]


def _is_plain_number(item: Any) -> bool:
    """Whether `item` is a tensor whose one number is read by numpy, in plain eager mode."""
    return type(item) is Tensor and item.ndarray.size == 1 and item.ndarray.dtype.kind in "biuf"


def _ragged(expected: int | None, length: int | None, place: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"expected sequence of length {expected} at dim {len(place)} (got {length}), "
        f"in item {list(place)}. Rows of one tensor have one length; pad the short ones."
    )


def _element(data: Any, types: set[DType | np.dtype], dtype: DType | None) -> Any:
    """One number; tensors of one element are read."""
    if isinstance(data, Tensor):
        types.add(data.dtype)
        if data.ndarray.size != 1:
            raise _no_single_element(data.dtype)
        value = data.detach().tolist()
        while isinstance(value, list):
            (value,) = value
        return value
    if isinstance(data, NUMBERS):
        types.add(inferred(data))
        return data
    if isinstance(data, np.generic):
        types.add(_type_in(data))
        return data
    if isinstance(data, str) and not types:  # the first of all items tells what the others have to be
        raise ValueError("too many dimensions 'str': tensors are made of numbers. Convert text first, e.g. by float().")
    raise _no_data(data, dtype) if dtype is None else _no_number(data, dtype)


def _no_single_element(dtype: DType) -> Exception:
    if dtype.is_floating_point:
        return ValueError("only one element tensors can be converted to Python scalars. Use stack() to join tensors.")
    text = "only integer tensors of a single element can be converted to an index. Use stack() to join tensors."
    return TypeError(text)


def _no_data(data: Any, dtype: DType | None) -> Exception:
    name = type(data).__name__
    if isinstance(data, (str, bytes)):
        return TypeError(f"new(): invalid data type {name!r}; tensors are made of numbers")
    if dtype is None:
        return RuntimeError(f"Could not infer dtype of {name}; tensors are made of numbers")
    return _no_number(data, dtype)


def _no_number(data: Any, dtype: DType) -> TypeError:
    name = type(data).__name__
    if dtype.category >= FLOATING:
        return TypeError(f"must be real number, not {name}")
    remedy = ". Use its .real." if isinstance(data, complex) else "; tensors are made of numbers"
    return TypeError(f"{name!r} object cannot be interpreted as an integer{remedy}")


#: What lists are converted to first: short integers are looked at before they wrap around.
_BETWEEN: dict[DType, Any] = {
    **dict.fromkeys((uint8, int8, int16), np.int64),
    **dict.fromkeys((float16, bfloat16), np.float32),
}


def _narrowed(values: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype.category == INTEGER and values.size:
        for number in (values.min(), values.max()):
            fitting(int(number), dtype, dtype.name)
    with np.errstate(over="ignore"):
        return values.astype(dtype.numpy)


def _holds_floats(plain: Any) -> bool:
    return any(map(_holds_floats, plain)) if isinstance(plain, list) else isinstance(plain, float)


def _converted(plain: Any, dtype: DType, asked: DType | None) -> np.ndarray:
    try:
        values = np.array(plain, dtype=_BETWEEN.get(dtype, dtype.numpy))
        return values if values.dtype == dtype.numpy else _narrowed(values, dtype)
    except (OverflowError, ValueError) as error:
        if dtype.category != 1:
            raise
        if asked is not None and ("C long" not in str(error) or _holds_floats(plain)):
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow ({error})") from None
        text = f"Overflow when unpacking long long: a number does not fit in int64 ({error}). Write it as a float."
        raise ValueError(text) from None
