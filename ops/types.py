"""Element types and array types: what every level of tracegrad agrees on.

Promotion follows PyTorch's published rules: a tensor's category (bool < integer < floating) decides first, and
0-d tensors and Python numbers lift the result only across categories.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

#: How PyTorch's messages call the types: as a kind of tensor, and as a type of C++.
_NAMES_IN_MESSAGES = {
    "bool": ("Bool", "bool"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "float32": ("Float", "float"),
    "float64": ("Double", "double"),
}


class DType:
    """One element type, e.g. ``tg.float32``. Each exists once, so ``is`` and ``==`` agree."""

    __slots__ = ("c_name", "category", "name", "numpy", "short", "title")

    def __init__(self, name: str, short: str, numpy_name: str, category: int) -> None:
        self.name = name
        self.short = short
        self.numpy = np.dtype(numpy_name)
        self.category = category  # 0 bool, 1 integer, 2 floating
        self.title, self.c_name = _NAMES_IN_MESSAGES[name]

    @property
    def is_floating_point(self) -> bool:
        return self.category == 2

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize

    def __repr__(self) -> str:
        return f"tracegrad.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (dtype_named, (self.name,))


bool_ = DType("bool", "bool", "bool", 0)
int32 = DType("int32", "i32", "int32", 1)
int64 = DType("int64", "i64", "int64", 1)
float32 = DType("float32", "f32", "float32", 2)
float64 = DType("float64", "f64", "float64", 2)

ALL_DTYPES = (bool_, int32, int64, float32, float64)
_BY_NAME = {key: d for d in ALL_DTYPES for key in (d.name, d.short)}
_BY_NUMPY = {d.numpy: d for d in ALL_DTYPES}


class Defaults:
    """What `set_default_dtype` sets, for all threads."""

    dtype = float32


defaults = Defaults()


def dtype_named(name: str) -> DType:
    """The element type called `name`, long (``float32``) or short (``f32``)."""
    return _BY_NAME[name]


def dtype_of(array: np.ndarray | np.generic) -> DType:
    """The element type of a numpy array; TypeError for one that tracegrad does not have."""
    try:
        return _BY_NUMPY[array.dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype}; the supported types are: "
            f"{', '.join(d.name for d in ALL_DTYPES)}. Convert it first, e.g. array.astype('float32')."
        ) from None


def get_default_dtype() -> DType:
    """The floating type that Python floats and integer divisions become (float32 unless changed)."""
    return defaults.dtype


def set_default_dtype(dtype: DType) -> None:
    """Set the default floating type; TypeError if `dtype` is not floating."""
    if not isinstance(dtype, DType) or not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {dtype!r}")
    defaults.dtype = dtype


@dataclass(frozen=True)
class Type:
    """Element type and shape of one value, printed as ``f32[32,4]``."""

    dtype: DType
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type that holds both, by category first: ``int64, float32 -> float32``."""
    if a.category != b.category:
        return a if a.category > b.category else b
    return a if a.itemsize >= b.itemsize else b


def number_dtype(number: bool | int | float | np.generic) -> DType:
    """The type a bare number stands for: bool, int64, or the default floating type."""
    if isinstance(number, (bool, np.bool_)):
        return bool_
    return int64 if isinstance(number, (int, np.integer)) else defaults.dtype


_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def number_in(number: bool | int | float | np.generic, dtype: DType) -> np.generic:
    """`number` in `dtype`: a float that is too large becomes infinite, an integer wraps around, both as in PyTorch.

    OverflowError for an integer that needs more than 64 bits; one without sign that does not wraps around.
    """
    if type(number) is int and not -(2**63) <= number < 2**64:
        raise OverflowError("int too big to convert" if number > 0 else "can't convert negative int to unsigned")
    fits = not dtype.is_floating_point or -_LARGEST_FLOAT32 <= float(number) <= _LARGEST_FLOAT32
    try:
        if fits:
            return dtype.numpy.type(number)
        with np.errstate(over="ignore"):
            return dtype.numpy.type(number)
    except OverflowError:
        integer = int(number)
        wrapped = integer - 2**64 if 2**63 <= integer < 2**64 else integer
        return np.int64(wrapped).astype(dtype.numpy)


# How strongly an operand decides the result's type: Python numbers least, arrays with dimensions most.
NUMBER, SCALAR, DIMENSIONED = 0, 1, 2


def result_dtype(operands: Iterable[tuple[DType, int]]) -> DType:
    """The common type of operands given as (type, rank), rank one of NUMBER, SCALAR, DIMENSIONED."""
    best: list[DType | None] = [None, None, None]
    for dtype, rank in operands:
        seen = best[rank]
        best[rank] = dtype if seen is None else promote_types(seen, dtype)
    result = best[NUMBER]
    for stronger in (best[SCALAR], best[DIMENSIONED]):
        if stronger is not None:
            result = _across_categories(stronger, result)
    if result is None:
        raise ValueError("result_dtype needs at least one operand")
    return result


def _across_categories(stronger: DType, weaker: DType | None) -> DType:
    if weaker is not None and weaker.category > stronger.category:
        return promote_types(stronger, weaker)
    return stronger


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape under broadcasting; RuntimeError with PyTorch's words when there is none."""
    ndim = max(map(len, shapes), default=0)
    out = [1] * ndim
    for shape in shapes:
        for axis, extent in zip(range(ndim - 1, -1, -1), reversed(shape), strict=False):
            if extent != 1:
                if out[axis] not in (1, extent):
                    raise RuntimeError(
                        f"The size of tensor a ({out[axis]}) must match the size of tensor b ({extent}) "
                        f"at non-singleton dimension {axis}"
                    )
                out[axis] = extent
    return tuple(out)
