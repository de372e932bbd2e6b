"""Making tensors: from Python data, from numpy, filled, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops import comparison, sources
from ..ops.array import eager
from ..ops.core import current
from ..ops.identity import copy
from ..ops.layouts.formats import laid_as
from ..ops.pointwise import cast, common_dtype
from ..ops.types import INTEGER, NUMBERS, DType, dtype_of, float64, get_default_dtype, int64, number_dtype
from ..tracing.user_warning import warn_once, warn_user
from .arguments import named_sizes, sizes_of
from .calling.even_rows import even_row
from .calling.numbers import count_between, ends_of, extents, item_of, number_in, require_steps, unpacked
from .data import fitting, inferred, values_of
from .device import require_cpu
from .foreign.arrays import refuse_layout
from .foreign.numpy_arrays import from_numpy
from .layouts.formats import factory
from .literals import literal_of, numbers_that_vary
from .meta.meta_tensor import any_meta, meta_like
from .operands import overridable
from .tensor import Tensor

if TYPE_CHECKING:
    from .calling.annotations import DeviceLike, Number, Sizes
    from .calling.signatures import Filling, FillingLike


def _finished(value: Any, requires_grad: bool) -> Any:
    return value._begin_as_leaf() if requires_grad else value


# ------------------------------------------------------------------------------------------------------- from data


@factory
def tensor(
    data: object, *, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor that copies `data`: numbers, nested lists of them, numpy arrays.

    Integers become int64, floats the default floating type, bools bool; numpy arrays and numbers keep their type, and
    a list has the type that its items are promoted to. `dtype` converts. ValueError for nested lists of unequal lengths
    and for integers that need more than 64 bits, TypeError or RuntimeError for what is no number.

    >>> import tracegrad as tg
    >>> tg.tensor([[1., 2.], [3., 4.]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    require_cpu(device)
    if isinstance(data, Tensor):
        if any_meta((data,)):
            return _finished(meta_like(data.to("meta" if device is None else device, dtype)), requires_grad)
        warn_user(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor(sourceTensor).",
        )
        return _finished(copy(_in_dtype(data.detach(), dtype)), requires_grad)
    if isinstance(data, NUMBERS):
        of = dtype or inferred(data)
        at_once: Any = getattr(current(), "scalar", None)
        made = sources.full((), unpacked(data, of), of) if at_once is None else at_once(unpacked(data, of), of)
        return _finished(made, requires_grad)
    if isinstance(data, list) and data and isinstance(data[0], np.ndarray):
        warn_once(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to "
            "a single numpy.ndarray with numpy.array() before converting to a tensor."
        )
    refuse_layout(data)
    numbers = numbers_that_vary(data)
    made = literal_of(data, numbers, dtype) if numbers else eager().literal(values_of(data, dtype))
    return _finished(made, requires_grad)


def _in_dtype(x: Any, dtype: DType | None) -> Any:
    return x if dtype is None or x.dtype is dtype else cast(x, dtype)


@factory
def as_tensor(data: object, dtype: DType | None = None, device: DeviceLike | None = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed.

    Tensors, with their history, and numpy arrays of the type share their memory. Anything else is copied as by
    `tensor`, which raises the same errors; `dtype` converts.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0])
    >>> tg.as_tensor(x) is x, tg.as_tensor([1, 2])
    (True, tensor([1, 2]))
    """
    if any_meta((data,)):
        return data.to("meta" if device is None else device, dtype)  # type: ignore[attr-defined]
    require_cpu(device)
    if isinstance(data, Tensor):
        return _in_dtype(data, dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype_of(data) is dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def result_type(first: Tensor | Number, second: Tensor | Number) -> DType:
    """The type that two operands are promoted to: the higher category (bool, integers, floats, complex) decides.

    Of one category, a tensor with axes counts more than one without, and that more than a number.

    >>> import tracegrad as tg
    >>> tg.result_type(tg.tensor([1, 2]), 1.5), tg.result_type(tg.ones(2), tg.tensor(1.0, dtype=tg.float64))
    (tracegrad.float32, tracegrad.float32)
    """
    return common_dtype([first, second])


result_type = overridable(result_type, "tracegrad.result_type")


def is_tensor(x: object) -> bool:
    """Whether `x` is a tensor, dense or sparse.

    ``isinstance(x, tg.Tensor)`` says it of dense ones, also to type checkers.

    >>> import tracegrad as tg
    >>> tg.is_tensor(tg.ones(2)), tg.is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, Tensor) or getattr(x, "is_sparse", False) is True


# ---------------------------------------------------------------------------------------------------------- filled


@factory
def full(
    size: Sequence[int],
    fill_value: Tensor | Number,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of shape `size` in which every element is `fill_value`, a number or a 0-d tensor.

    Its type is that of the number (bool, int64, the default floating or complex type) unless `dtype` is given.
    RuntimeError for negative extents and for a number that the type cannot hold, TypeError for a size that is no
    sequence.

    >>> import tracegrad as tg
    >>> tg.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    require_cpu(device)
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    shape, number = extents(sizes_of((size,))), number_in(fill_value)
    of = dtype or number_dtype(number)
    return _finished(sources.full(shape, fitting(number, of), of), requires_grad)


def _filled(name: str, value: int, what: str) -> Filling:
    def create(
        *size: Sizes,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **ignored: object,
    ) -> Tensor:
        if ignored:
            refuse_unknown(name, ignored)
            size = (named_sizes(name, "size", ignored["size"]),)
        elif not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        require_cpu(device)
        shape = extents(sizes_of(size))
        return _finished(sources.full(shape, value, dtype or get_default_dtype()), requires_grad)

    create.__name__ = create.__qualname__ = name
    row = f"[{value}., {value}.]"
    shown = "tracegrad.Size([2, 2])" if name == "empty" else f"tensor([{row},\n            {row}])"
    create.__doc__ = f"""{what} in a shape, given as numbers or as one sequence of them.

    The type is the default floating one unless `dtype` is given; `layout`, `pin_memory` and `device` are taken as far
    as there is a choice. RuntimeError for negative extents, TypeError for what is no int.

    >>> import tracegrad as tg
    >>> tg.{name}(2, 2){".shape" if name == "empty" else ""}
    {shown}
    """
    return factory(create)


def refuse_unknown(name: str, keywords: dict[str, Any]) -> None:
    """TypeError for keywords that PyTorch has not."""
    for keyword in keywords.keys() - {"size"}:
        raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")


zeros = _filled("zeros", 0, "Zeros")
ones = _filled("ones", 1, "Ones")
empty = _filled("empty", 0, "Numbers that are not to be relied on (zeros here)")


def _like(name: str, value: int) -> FillingLike:
    def create(
        input: Tensor,
        *,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **ignored: object,
    ) -> Tensor:
        refuse_unknown(name, ignored)
        return _full_like(input, value, dtype, device, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"""``tg.{name.removesuffix("_like")}`` in the shape of `input`.

    It has the type of `input` unless `dtype` is given. The axes lie in the order of those of `input` unless
    `memory_format` is given.

    >>> import tracegrad as tg
    >>> x = tg.{name}(tg.tensor([[1, 2, 3]]))
    >>> x.shape, x.dtype
    (tracegrad.Size([1, 3]), tracegrad.int64)
    """
    return factory(create)


@factory
def full_like(
    input: Tensor,
    fill_value: Tensor | Number,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor in the shape of `input` in which every element is `fill_value`, a number or a 0-d tensor.

    It has the type of `input` unless `dtype` is given. `memory_format` may be given, too. RuntimeError for a number
    that the type cannot hold.

    >>> import tracegrad as tg
    >>> tg.full_like(tg.zeros(2), 3)
    tensor([3., 3.])
    """
    return _full_like(input, fill_value, dtype, device, requires_grad)


def _full_like(input: Any, fill_value: Any, dtype: DType | None, device: Any, requires_grad: bool) -> Any:
    require_cpu(device)
    of = dtype or input.dtype
    out = sources.full(input.ndarray.shape, fitting(number_in(fill_value), of), of)
    return _finished(out if input.ndarray.flags.c_contiguous else laid_as(out, input.ndarray), requires_grad)


zeros_like = _like("zeros_like", 0)
ones_like = _like("ones_like", 1)
empty_like = _like("empty_like", 0)


# --------------------------------------------------------------------------------------------------------- counted


@factory
def arange(
    start: Tensor | Number | None = None,
    end: Tensor | Number | None = None,
    step: Tensor | Number = 1,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` up to but without `end`; ``arange(end)`` and ``arange(end=end)`` count from 0.

    int64 if all three are integers, else the default floating type, unless `dtype` is given. There are
    ``ceil((end - start) / step)`` numbers. RuntimeError for a `step` of 0 or one that leads away from `end`, and for
    infinite ranges; ValueError for a `step` that int64 as `dtype` makes 0; NotImplementedError for complex ones.

    >>> import tracegrad as tg
    >>> tg.arange(3), tg.arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    require_cpu(device)
    if start is None and end is None:
        raise TypeError("arange() received an invalid combination of arguments - got no `end`")
    if dtype is not None and dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.title}'. Convert it by .to().")
    start, end = (0, start) if end is None else (0 if start is None else start, end)
    first, last, by = map(item_of, (start, end, step))
    count = count_between(first, last, by)
    if dtype is not None and dtype.category == INTEGER:
        first, last, by = int(first), int(last), int(by)
        if dtype is int64:  # shorter ones are counted as floating-point numbers
            if by == 0:
                raise ValueError("step must be nonzero")
            count = count_between(first, last, by)
    whole = all(isinstance(n, (int, np.integer)) for n in (first, last, by))
    dtype = dtype or (int64 if whole else get_default_dtype())
    # Counted in int64 or float64 and rounded once, so that the last elements are as exact as the first.
    counted = sources.iota((count,), 0, int64 if whole else float64)
    return _finished(_in_dtype(_scaled(counted, by, first), dtype), requires_grad)


def _scaled(counted: Any, step: Any, start: Any) -> Any:
    counted = counted if step == 1 else counted * step
    return counted if start == 0 else counted + start


@factory
def linspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: int,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances: ``[steps]``.

    They have the default floating type unless `dtype` is given, or its complex one between complex ends; integers are
    cut off. RuntimeError for a negative number of steps, for ends with axes and for complex ends in a type that is not,
    TypeError for steps that are no int, NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    require_cpu(device)
    first, last, dtype = ends_of("linspace", start, end, dtype)
    require_steps("linspace", steps)
    if dtype.category == INTEGER:
        first, last = int(first), int(last)
    if steps == 1:
        return full((1,), first, dtype=dtype, requires_grad=requires_grad)
    return _finished(_in_dtype(even_row(first, last, steps, dtype), dtype), requires_grad)


@factory
def logspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from ``base ** start`` to ``base ** end``, both included, at equal ratios: ``base ** linspace``.

    Types and errors are those of `linspace`.

    >>> import tracegrad as tg
    >>> tg.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    require_steps("logspace", steps)
    first, last, dtype = ends_of("logspace", start, end, dtype)
    if dtype.category != INTEGER:
        return base ** linspace(first, last, steps, dtype=dtype, device=device, requires_grad=requires_grad)
    # Integers are powers to whole ends, cut off.
    return _in_dtype(base ** linspace(int(first), int(last), steps, dtype=float64, device=device), dtype)


@factory
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal of an ``[n, m]`` matrix of zeros (``[n, n]`` without `m`), in the default floating type.

    `dtype` says otherwise. RuntimeError for negative extents.

    >>> import tracegrad as tg
    >>> tg.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    require_cpu(device)
    for name, extent in (("n", n), ("m", m)):
        if extent is not None and extent < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {extent}")
    shape = (n, n if m is None else m)
    diagonal = comparison.eq(sources.iota(shape, 0, int64), sources.iota(shape, 1, int64))
    return _finished(cast(diagonal, dtype or get_default_dtype()), requires_grad)
