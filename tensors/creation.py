"""Making tensors: from Python data, from numpy, filled, counted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops import comparison, sources
from ..ops.array import eager
from ..ops.exposure import expose
from ..ops.identity import copy
from ..ops.pointwise import cast, common_dtype
from ..ops.types import DType, dtype_of, float64, get_default_dtype, int64, number_dtype
from .arguments import Shape, shape_of, sizes_of
from .data import fitting, inferred, refuse_recording, values_of
from .device import require_cpu
from .literals import literal_of, numbers_that_vary
from .operands import number_of, overridable
from .tensor import Tensor, make


def _finished(value: Any, requires_grad: bool) -> Any:
    return value.requires_grad_() if requires_grad else value


# ------------------------------------------------------------------------------------------------------- from data


def tensor(data: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor that copies `data`: numbers, nested lists of them, numpy arrays.

    Integers become int64, floats the default floating type, bools bool; numpy arrays and numbers keep their type, and
    a list has the type that its items are promoted to. ValueError for nested lists of unequal lengths and for integers
    that need more than 64 bits, TypeError or RuntimeError for what is no number.

    >>> import tracegrad as tg
    >>> tg.tensor([[1., 2.], [3., 4.]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    require_cpu(device)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tracegrad.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        return _finished(copy(_in_dtype(data.detach(), dtype)), requires_grad)
    if isinstance(data, (bool, int, float)):
        of = dtype or inferred(data)
        return _finished(sources.full((), _unpacked(data, of), of), requires_grad)
    if isinstance(data, np.ndarray):
        _refuse_negative_strides(data)
    numbers = numbers_that_vary(data)
    made = literal_of(data, numbers, dtype) if numbers else eager().literal(values_of(data, dtype))
    return _finished(made, requires_grad)


def _unpacked(number: bool | int | float, dtype: DType) -> bool | int | float:
    """`number`, if `dtype` holds it; too large a float becomes infinite here, as it does in a list."""
    if isinstance(number, int) and not isinstance(number, bool) and not -(2**63) <= number < 2**63:
        if dtype is int64:
            raise ValueError(f"Overflow when unpacking long long: {number} does not fit in int64. Write it as a float.")
    return number if dtype.is_floating_point else fitting(number, dtype)


def _in_dtype(x: Any, dtype: DType | None) -> Any:
    return x if dtype is None or x.dtype is dtype else cast(x, dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares `array`'s memory; TypeError for anything but a numpy array of a supported type.

    ValueError for numbers in another byte order than the machine's.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__}); use tensor() for other data")
    _refuse_negative_strides(array)
    _refuse_byte_order(array)
    dtype_of(array)
    refuse_recording("from_numpy()")
    # A view of its own, so that shape, type and flags stay; of subclasses the memory, without their arithmetic.
    plain = array.view(np.ndarray)
    expose(plain)
    return make(plain)


def _refuse_negative_strides(array: np.ndarray) -> None:
    if min(array.strides, default=0) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array with array.copy().)"
        )


def _refuse_byte_order(array: np.ndarray) -> None:
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported: convert it first, e.g. array.astype(array.dtype.newbyteorder('='))."
        )


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed (tensors and numpy arrays of the right type)."""
    require_cpu(device)
    if isinstance(data, Tensor):
        return _in_dtype(data, dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype_of(data) is dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def result_type(first: Any, second: Any) -> DType:
    """The type that two operands (tensors or numbers) are promoted to."""
    return common_dtype([first, second])


result_type = overridable(result_type, "tracegrad.result_type")


def is_tensor(x: Any) -> bool:
    """True for a Tensor."""
    return isinstance(x, Tensor)


# ---------------------------------------------------------------------------------------------------------- filled


def full(
    size: Any, fill_value: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of shape `size` in which every element is `fill_value`."""
    require_cpu(device)
    shape, fill_value = _checked(sizes_of((size,))), _number(fill_value)
    of = dtype or number_dtype(fill_value)
    return _finished(sources.full(shape, fitting(fill_value, of), of), requires_grad)


def _number(value: Any) -> Any:
    """The number that a 0-d tensor, numpy or Python gives."""
    value = value.item() if isinstance(value, Tensor) else value
    return number_of(value) if isinstance(value, np.generic) else value


def _checked(shape: Shape) -> Shape:
    for extent in shape:
        if extent < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {extent}: {list(shape)}")
    return shape


def _filled(name: str, value: int, doc: str) -> Callable[..., Tensor]:
    def create(
        *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **ignored: Any
    ) -> Tensor:
        _refuse_unknown(name, ignored)
        if not size and "size" not in ignored:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        given = ignored.get("size", size)
        require_cpu(device)
        shape = _checked(sizes_of(given if isinstance(given, tuple) else (given,)))
        return _finished(sources.full(shape, value, dtype or get_default_dtype()), requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return create


#: Keywords about memory that PyTorch has and that mean nothing here.
_WITHOUT_MEANING = {"layout", "pin_memory", "memory_format", "size"}


def _refuse_unknown(name: str, keywords: dict[str, Any]) -> None:
    for keyword in keywords.keys() - _WITHOUT_MEANING:
        raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")


zeros = _filled("zeros", 0, "Zeros of a shape, float32 unless `dtype` says otherwise: ``zeros(2, 3)``.")
ones = _filled("ones", 1, "Ones of a shape, float32 unless `dtype` says otherwise: ``ones(2, 3)``.")
empty = _filled("empty", 0, "A tensor whose values are not to be relied on (they are zeros here).")


def _like(name: str, value: int) -> Callable[..., Tensor]:
    def create(
        input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **ignored: Any
    ) -> Tensor:
        _refuse_unknown(name, ignored)
        return full_like(input, value, dtype=dtype, device=device, requires_grad=requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"``{name.removesuffix('_like')}`` in the shape and (unless `dtype` is given) type of `input`."
    return create


def full_like(
    input: Tensor, fill_value: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor in the shape and type of `input` in which every element is `fill_value`."""
    require_cpu(device)
    of = dtype or input.dtype
    return _finished(sources.full(shape_of(input), fitting(_number(fill_value), of), of), requires_grad)


zeros_like = _like("zeros_like", 0)
ones_like = _like("ones_like", 1)
empty_like = _like("empty_like", 0)


# --------------------------------------------------------------------------------------------------------- counted


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` below `end`; integers if all three are, else the default floating type."""
    require_cpu(device)
    start, end = (0, start) if end is None else (start, end)
    first, last, by = (n.item() if isinstance(n, Tensor) else n for n in (start, end, step))
    if dtype is not None and not dtype.is_floating_point:
        first, last, by = int(first), int(last), int(by)
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(n, (int, np.integer)) for n in (first, last, by))
    count = math.ceil((last - first) / by)
    dtype = dtype or (int64 if whole else get_default_dtype())
    # Counted in int64 or float64 and rounded once, so that the last elements are as exact as the first.
    counted = sources.iota((count,), 0, int64 if whole else float64)
    return _finished(_in_dtype(_scaled(counted, by, first), dtype), requires_grad)


def _scaled(counted: Any, step: Any, start: Any) -> Any:
    counted = counted if step == 1 else counted * step
    return counted if start == 0 else counted + start


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    require_cpu(device)
    dtype = dtype or get_default_dtype()
    first, last = (n.item() if isinstance(n, Tensor) else n for n in (start, end))
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    if steps == 1:
        return full((1,), first, dtype=dtype, requires_grad=requires_grad)
    computed = dtype if dtype.is_floating_point else get_default_dtype()
    place = sources.iota((steps,), 0, computed)
    step = (last - first) / (steps - 1)
    # Counted from both ends, as PyTorch does: the ends come out exact, and the middle is symmetric.
    values = comparison.where(place < steps // 2, first + place * step, last - (steps - 1 - place) * step)
    return _finished(_in_dtype(values, dtype), requires_grad)


def logspace(start: float, end: float, steps: int, base: float = 10.0, **options: Any) -> Tensor:
    """`steps` numbers from ``base ** start`` to ``base ** end`` at equal ratios."""
    return base ** linspace(start, end, steps, **options)


def eye(
    n: int, m: int | None = None, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones on the diagonal of an ``[n, m]`` matrix of zeros (``[n, n]`` without `m`)."""
    require_cpu(device)
    for name, extent in (("n", n), ("m", m)):
        if extent is not None and extent < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {extent}")
    shape = (n, n if m is None else m)
    diagonal = comparison.eq(sources.iota(shape, 0, int64), sources.iota(shape, 1, int64))
    return _finished(cast(diagonal, dtype or get_default_dtype()), requires_grad)
