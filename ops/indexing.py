"""Reading and writing at places that are data. Each reading op and its adding counterpart are each other's derivative.

`gather`, `scatter`, `scatter_add` pick single elements along one axis, indices count from 0; `take`, `put`, `index_add`
pick whole rows of axis 0, negative indices count from the end. The index is int64. Where an index occurs twice, `put`
and `scatter` keep the last value, the adding ops add both.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .core import NO_GRADIENT, Kernel, at_once, bind, define
from .memory import by_rows
from .sources import zeros
from .types import Type, int64

FEW = 4096  # elements, whose places are kept from call to call


def _check_index(index: Type) -> None:
    if index.dtype is not int64:
        raise RuntimeError(f"expected an index of type int64, got {index}; cast it first, e.g. index.long()")


def _check_range(index: np.ndarray, lowest: int, extent: int, axis: int, error: type[Exception]) -> None:
    if lowest == 0 and index.dtype == np.int64:
        outside = index.view(np.uint64) >= extent  # a negative number is a large one
    else:
        outside = (index < lowest) | (index >= extent)
    if np.count_nonzero(outside):
        wrong = index[outside]
        raise error(f"index {wrong.flat[0]} is out of bounds for dimension {axis} with size {extent}")


# ---------------------------------------------------------------------------------- single elements along one axis


def _check_elements(x: Type, index: Type, axis: int) -> None:
    _check_index(index)
    if index.ndim != x.ndim:
        raise RuntimeError(f"Index tensor must have the same number of dimensions as input tensor: {index} and {x}")
    for a, (extent, available) in enumerate(zip(index.shape, x.shape, strict=True)):
        if a != axis and extent > available:
            raise RuntimeError(
                f"Size does not match at dimension {a} expected index {list(index.shape)} "
                f"to be no larger than self {list(x.shape)} apart from dimension {axis}"
            )


def check_element_range(index: np.ndarray, x_type: Type, axis: int) -> None:
    _check_range(index, 0, x_type.shape[axis], axis, RuntimeError)


def elements(x: np.ndarray, index: np.ndarray, axis: int) -> tuple[Any, ...]:
    """The numpy index of the elements that `index` names; ValueError for sizes that numpy would broadcast or cut."""
    shape, extents = index.shape, x.shape
    fits = len(shape) == len(extents)
    for i, extent in zip(shape, extents[:axis] + shape[axis : axis + 1] + extents[axis + 1 :]):  # noqa: B905
        fits = fits and i <= extent
    if not fits:
        raise ValueError("index and x do not fit")  # the evaluator asks the type rule for the words
    _check_range(index, 0, extents[axis], axis, RuntimeError)
    grid = (_kept_places if index.size <= FEW else _places)(shape)
    return (*grid[:axis], index, *grid[axis + 1 :])


def _places(shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """The places along each axis of `shape`, which broadcast to it."""
    return tuple(np.ogrid[tuple(np.s_[:extent] for extent in shape)])


_kept_places = functools.lru_cache(maxsize=128)(_places)


def _gathered(x: Type, index: Type, axis: int) -> Type:
    _check_elements(x, index, axis)
    return Type(x.dtype, index.shape)


gather_primitive = define(
    "gather",
    ("x", "index"),
    type=_gathered,
    eval=lambda x, index, axis: by_rows(x[elements(x, index, axis)]),
    lower=Kernel("gather"),
    check=check_element_range,
    vjp={
        "x": lambda g, index, x_type, axis: scatter_add(zeros(x_type), index, g, axis),
        "index": NO_GRADIENT,
    },
)


def gather(x: Any, index: Any, axis: int) -> Any:
    """``out[i, j] = x[index[i, j], j]`` for axis 0; the index may be smaller than x.

    RuntimeError for an index outside ``0 .. x.shape[axis] - 1``.
    """
    return bind(gather_primitive, x, index, axis=axis)


def scattered(x: Type, index: Type, src: Type, axis: int) -> Type:
    _check_elements(x, index, axis)
    if src.dtype is not x.dtype or src.shape != index.shape:
        raise RuntimeError(f"scatter() expects a source of x's type and the index's shape, got {src} for {x}[{index}]")
    return x


def _check_source(shape: tuple[int, ...], src: np.ndarray) -> None:
    """ValueError (so that the type rule speaks) for a source that numpy would broadcast."""
    if src.shape != shape:
        raise ValueError("the source does not fit")


def _scatter(x: np.ndarray, index: np.ndarray, src: np.ndarray, axis: int) -> np.ndarray:
    _check_source(index.shape, src)
    out = x.copy("C")
    out[elements(x, index, axis)] = src
    return out


def _scatter_add(x: np.ndarray, index: np.ndarray, src: np.ndarray, axis: int) -> np.ndarray:
    _check_source(index.shape, src)
    out = x.copy("C")
    np.add.at(out, elements(x, index, axis), src)
    return out


scatter_primitive = define(
    "scatter",
    ("x", "index", "src"),
    type=scattered,
    eval=_scatter,
    lower=Kernel("scatter"),
    check=check_element_range,
    vjp={
        "x": lambda g, index, src_type, axis: scatter(g, index, zeros(src_type), axis),
        "index": NO_GRADIENT,
        "src": lambda g, index, axis: gather(g, index, axis),
    },
    linear=("x", "src"),  # of several numbers for one place the last counts, and all of them get the gradient
)


def scatter(x: Any, index: Any, src: Any, axis: int) -> Any:
    """x with ``x[index[i, j], j] = src[i, j]`` (axis 0); `src` has the index's shape. Errors as in `gather`."""
    return bind(scatter_primitive, x, index, src, axis=axis)


scatter_add_primitive = define(
    "scatter_add",
    ("x", "index", "src"),
    type=scattered,
    eval=_scatter_add,
    lower=Kernel("scatter_add"),
    check=check_element_range,
    vjp={"x": lambda g: g, "index": NO_GRADIENT, "src": lambda g, index, axis: gather(g, index, axis)},
)


def scatter_add(x: Any, index: Any, src: Any, axis: int) -> Any:
    """x with ``x[index[i, j], j] += src[i, j]`` (axis 0); `src` has the index's shape. Errors as in `gather`."""
    return bind(scatter_add_primitive, x, index, src, axis=axis)


# ------------------------------------------------------------------------------------------------ rows of axis 0


def _taken(x: Type, index: Type) -> Type:
    _check_index(index)
    return Type(x.dtype, index.shape + x.shape[1:])


def _check_row_range(index: np.ndarray, x_type: Type) -> None:
    _check_range(index, -x_type.shape[0], x_type.shape[0], 0, IndexError)


def _rows(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    """`index` with negative entries counted from the end."""
    extent = x.shape[0]
    _check_range(index, -extent, extent, 0, IndexError)
    negative = index < 0
    return np.where(negative, index + extent, index) if negative.any() else index


def _take(x: np.ndarray, index: np.ndarray) -> Any:
    try:
        return x.take(index, axis=0)  # counts from the end as `_rows` does
    except IndexError:
        _rows(x, index)  # says which entry it is
        raise


take_primitive = define(
    "take",
    ("x", "index"),
    type=_taken,
    eval=_take,
    lower=Kernel("take"),
    check=_check_row_range,
    vjp={"x": lambda g, index, x_type: _at_rows(g, index, x_type), "index": NO_GRADIENT},
    backward_name="IndexBackward0",
)


def _at_rows(g: Any, index: Any, x_type: Type) -> Any:
    """Zeros, to which the rows of `g` are added where `index` says."""
    if (interpreter := at_once(g)) is not None:
        out = np.zeros(x_type.shape, x_type.dtype.numpy)
        add_rows(out, _rows(out, index.ndarray), g.ndarray)
        return interpreter.literal(out)
    return index_add(zeros(x_type), index, g)


def take(x: Any, index: Any) -> Any:
    """``x[index]``: rows of x, of shape ``index.shape + x.shape[1:]``; IndexError for a row that x does not have."""
    return bind(take_primitive, x, index)


def _row_updated(x: Type, index: Type, src: Type) -> Type:
    if src != _taken(x, index):
        raise RuntimeError(
            f"shape mismatch: value {src} cannot be written to indexing result {_taken(x, index)} of {x}"
        )
    return x


def _put(x: np.ndarray, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    _check_source(index.shape + x.shape[1:], src)
    out = x.copy("C")
    out[_rows(x, index)] = src
    return out


def _index_add(x: np.ndarray, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    _check_source(index.shape + x.shape[1:], src)
    out = x.copy("C")
    add_rows(out, _rows(x, index), src)
    return out


def add_rows(out: np.ndarray, index: np.ndarray, src: np.ndarray) -> None:
    """``out[index] += src`` in contiguous memory, every occurrence of a row counted; positions count from 0."""
    if out.ndim > 1:  # flat, because numpy adds at one-dimensional places many times faster than at rows
        width = math.prod(out.shape[1:])
        out, index = out.reshape(-1), index.reshape(-1, 1) * width + np.arange(width)
    np.add.at(out, index.reshape(-1), np.ascontiguousarray(src).reshape(-1))


put_primitive = define(
    "put",
    ("x", "index", "src"),
    type=_row_updated,
    eval=_put,
    lower=Kernel("put"),
    check=_check_row_range,
    vjp={
        "x": lambda g, index, src_type: put(g, index, zeros(src_type)),
        "index": NO_GRADIENT,
        "src": lambda g, index: take(g, index),
    },
    backward_name="IndexPutBackward0",
    linear=("x", "src"),
)


def put(x: Any, index: Any, src: Any) -> Any:
    """x with ``x[index] = src``. Errors as in `take`."""
    return bind(put_primitive, x, index, src)


index_add_primitive = define(
    "index_add",
    ("x", "index", "src"),
    type=_row_updated,
    eval=_index_add,
    lower=Kernel("index_add"),
    check=_check_row_range,
    vjp={"x": lambda g: g, "index": NO_GRADIENT, "src": lambda g, index: take(g, index)},
)


def index_add(x: Any, index: Any, src: Any) -> Any:
    """x with ``x[index] += src``, every occurrence of a row counted. Errors as in `take`."""
    return bind(index_add_primitive, x, index, src)
