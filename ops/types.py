"""Element types and array types: what every level of tracegrad agrees on.

Promotion follows PyTorch's published rules: a tensor's category (bool < integer < floating < complex) decides first,
and 0-d tensors and Python numbers lift the result only across categories. bfloat16, which numpy does not have, is the
numpy type of ``ml_dtypes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

#: The package's name in texts that programs print and compare, as ``str(dtype)`` and ``x.type()``: "torch" where they
#: import it under that name.
public_name = SimpleNamespace(package=__name__.partition(".")[0])

#: How PyTorch's messages call the types: as a kind of tensor, and as a type of C++.
_NAMES_IN_MESSAGES = {
    "bool": ("Bool", "bool"),
    "uint8": ("Byte", "unsigned char"),
    "int8": ("Char", "signed char"),
    "int16": ("Short", "short"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "float16": ("Half", "c10::Half"),
    "bfloat16": ("BFloat16", "c10::BFloat16"),
    "float32": ("Float", "float"),
    "float64": ("Double", "double"),
    "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"),
}
#: Python's numbers.
NUMBERS = (bool, int, float, complex)
BOOL, INTEGER, FLOATING, COMPLEX = range(4)  # categories

#: What ``ndarray.dtype.kind`` is of floating-point arrays ("V": the type of bfloat16 is an extension of numpy), and of
#: all arrays that can have a gradient.
FLOATING_KINDS = "fV"
DIFFERENTIABLE_KINDS = "fVc"


class DType:
    """One element type, e.g. ``tg.float32``. Each exists once, so ``is`` and ``==`` agree."""

    __slots__ = ("c_name", "category", "name", "numpy", "short", "title")

    def __init__(self, name: str, short: str, numpy_type: Any, category: int) -> None:
        self.name = name
        self.short = short
        self.numpy = np.dtype(numpy_type)
        self.category = category
        self.title, self.c_name = _NAMES_IN_MESSAGES[name]

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_in_c(self) -> bool:
        """Whether compiled code has this type; calls that compute with others are re-recorded, and these by numpy."""
        return self.category != COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.category >= FLOATING or self.numpy.kind == "i"

    def to_complex(self) -> DType:
        """The complex type whose parts are of this one; RuntimeError for integers."""
        if self.category < FLOATING:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.title}. Convert to a floating type first.")
        return complex_of(self)

    def to_real(self) -> DType:
        """The type of a complex type's parts; itself otherwise."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize

    def __repr__(self) -> str:
        return f"{public_name.package}.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (dtype_named, (self.name,))


bool_ = DType("bool", "bool", "bool", BOOL)
uint8 = DType("uint8", "u8", "uint8", INTEGER)
int8 = DType("int8", "i8", "int8", INTEGER)
int16 = DType("int16", "i16", "int16", INTEGER)
int32 = DType("int32", "i32", "int32", INTEGER)
int64 = DType("int64", "i64", "int64", INTEGER)
float16 = DType("float16", "f16", "float16", FLOATING)
bfloat16 = DType("bfloat16", "bf16", ml_dtypes.bfloat16, FLOATING)
float32 = DType("float32", "f32", "float32", FLOATING)
float64 = DType("float64", "f64", "float64", FLOATING)
complex64 = DType("complex64", "c64", "complex64", COMPLEX)
complex128 = DType("complex128", "c128", "complex128", COMPLEX)

ALL_DTYPES = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
#: The types in which compiled code computes for those of 8 and 16 bits. Integers wrap around, so it changes nothing.
WIDE = {uint8: int32, int8: int32, int16: int32, float16: float32, bfloat16: float32}

_BY_NAME = {key: d for d in ALL_DTYPES for key in (d.name, d.short)}
BY_NUMPY = {d.numpy: d for d in ALL_DTYPES}


LAST_LONG_TYPE = np.dtype("timedelta64").num  # numpy's number of float16 comes behind it, then those of extensions


def is_short_float(dtype: np.dtype) -> bool:
    """True for float16 and bfloat16."""
    return dtype.num > LAST_LONG_TYPE


class Defaults:
    """What `set_default_dtype` sets, for all threads."""

    dtype = float32


defaults = Defaults()


def dtype_named(name: str) -> DType:
    """The element type called `name`, long (``float32``) or short (``f32``)."""
    return _BY_NAME[name]


_PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}


def dtype_from(dtype: Any) -> Any:
    """The element type that one of Python's types stands for (float is float64, complex is complex128)."""
    return _PYTHON_TYPES.get(dtype, dtype) if type(dtype) is type else dtype


def dtype_of(array: np.ndarray | np.generic) -> DType:
    """The element type of a numpy array; TypeError for one that tracegrad does not have."""
    try:
        return BY_NUMPY[array.dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype}; the supported types are: "
            f"{', '.join(d.name for d in ALL_DTYPES)}. Convert it first, e.g. array.astype('float32')."
        ) from None


def array_in(x: np.ndarray, dtype: DType) -> np.ndarray:
    """A copy of a numpy array in `dtype`, converted as PyTorch does: complex numbers lose their imaginary part."""
    if x.dtype.kind == "c" and not dtype.is_complex and dtype is not bool_:
        x = x.real
    if dtype is float16 or dtype is bfloat16:
        x = x.astype(np.float32, copy=False)  # what is wider is rounded twice
    if dtype.itemsize < 4 and dtype.category == INTEGER and x.dtype.kind in FLOATING_KINDS:
        x = x.astype(np.int64)  # what does not fit wraps around
    return x.astype(dtype.numpy)


def get_default_dtype() -> DType:
    """The type of Python's floats as tensors and of quotients of integers: float32, or as `set_default_dtype` says.

    >>> import tracegrad as tg
    >>> tg.get_default_dtype()
    tracegrad.float32
    """
    return defaults.dtype


def set_default_dtype(dtype: DType) -> None:
    """Set the default type, see `get_default_dtype`, for all threads. TypeError if `dtype` is not floating-point.

    >>> import tracegrad as tg
    >>> tg.set_default_dtype(tg.float64)
    >>> tg.tensor(1.5).dtype
    tracegrad.float64
    >>> tg.set_default_dtype(tg.float32)
    """
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
    """The smallest type that holds both, by category first: bool < integers < floats < complex numbers.

    Neither of two types of one category and size holds the other: uint8 and int8 become int16, float16 and bfloat16
    float32. A complex type has the precision of the real one beside it: ``float64, complex64 -> complex128``.

    >>> import tracegrad as tg
    >>> tg.promote_types(tg.int64, tg.float32)
    tracegrad.float32
    """
    if a is b:
        return a
    low, high = (a, b) if (a.category, a.itemsize) < (b.category, b.itemsize) else (b, a)
    if high.is_complex:
        return complex128 if low is float64 or high is complex128 else complex64
    if low.category == high.category and low.itemsize == high.itemsize:
        return int16 if low.category == INTEGER else float32
    return high


def complex_of(dtype: DType) -> DType:
    """The complex type whose parts are of a floating type; complex64 for the short ones (complex32 is not there)."""
    return complex128 if dtype in (float64, complex128) else complex64


def real_of(dtype: DType) -> DType:
    """The type of a complex type's parts; any other type as it is."""
    if not dtype.is_complex:
        return dtype
    return float64 if dtype is complex128 else float32


def number_dtype(number: bool | int | float | complex | np.generic) -> DType:
    """The type a bare number stands for: bool, int64, the default floating type, or the complex type of that."""
    if isinstance(number, (bool, np.bool_)):
        return bool_
    if isinstance(number, (int, np.integer)):
        return int64
    return complex_of(defaults.dtype) if isinstance(number, (complex, np.complexfloating)) else defaults.dtype


#: The largest numbers that are no infinities.
_LARGEST = {d: float(ml_dtypes.finfo(d.numpy).max) for d in ALL_DTYPES if d.category >= FLOATING}


def number_in(number: bool | int | float | complex | np.generic, dtype: DType) -> np.generic:
    """`number` in `dtype`: a float that is too large becomes infinite, an integer wraps around, both as in PyTorch.

    OverflowError for an integer that needs more than 64 bits; one without sign that does not wraps around.
    RuntimeError for a complex number in a type that is not complex.
    """
    if type(number) is int and not -(2**63) <= number < 2**64:
        raise OverflowError("int too big to convert" if number > 0 else "can't convert negative int to unsigned")
    if isinstance(number, (complex, np.complexfloating)):
        return _complex_in(number, dtype)
    largest = _LARGEST.get(dtype)
    if dtype is float16 or dtype is bfloat16:
        with np.errstate(over="ignore"):
            return dtype.numpy.type(np.float32(float(number)))  # rounded twice, as in PyTorch
    try:
        if largest is None or -largest <= float(number) <= largest:
            return dtype.numpy.type(number)
        with np.errstate(over="ignore"):
            return dtype.numpy.type(number)
    except OverflowError:
        integer = int(number)
        wrapped = integer - 2**64 if 2**63 <= integer < 2**64 else integer
        return np.int64(wrapped).astype(dtype.numpy)


def _complex_in(number: Any, dtype: DType) -> np.generic:
    if dtype.is_complex or dtype is bool_:
        with np.errstate(over="ignore"):
            return dtype.numpy.type(number)
    if number.imag != 0:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.c_name} without overflow: {number!r} has an imaginary part. "
            "Use its .real, or a complex type."
        )
    return number_in(number.real, dtype)


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
    if weaker is None or weaker.category <= stronger.category:
        return stronger
    if stronger.is_floating_point:  # keeps its precision beside complex numbers
        return complex_of(stronger)
    return promote_types(stronger, weaker)


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
