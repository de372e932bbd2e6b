"""Which function of images keeps which memory format: the one table of it.

A function in `KEEPS` gives channels-last results for channels-last operands (as their strides suggest it,
`ops.layouts.orders.suggested_order`); every other one gives rows, or is made of such functions and of elementwise ops,
which go by their operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ...ops.layouts.formats import gradient_in_order, in_order
from ...ops.layouts.orders import suggested_order
from ...ops.types import float64

F = TypeVar("F", bound=Callable[..., Any])


class Keeps(NamedTuple):
    """How a function goes by formats.

    The first of its `operands` (so many from the left) that lies with channels last decides. Where `gradients`, those
    of these operands lie so as well. `except_double` is the number of axes of images that are given by rows in float64.
    """

    operands: int = 1
    gradients: bool = True
    except_double: int = 0


_CONVOLUTION = Keeps(operands=2, except_double=5)
_RESULT = Keeps(gradients=False)

KEEPS: dict[str, Keeps] = {
    "conv2d": _CONVOLUTION,
    "conv3d": _CONVOLUTION,
    "conv_transpose2d": _CONVOLUTION,
    "conv_transpose3d": _CONVOLUTION,
    "max_pool2d": Keeps(),
    "max_pool3d": Keeps(),
    "max_unpool2d": Keeps(),
    "avg_pool2d": Keeps(),
    "adaptive_avg_pool2d": Keeps(),
    "adaptive_max_pool2d": Keeps(),
    "fractional_max_pool2d": _RESULT,
    "batch_norm": Keeps(),
    "group_norm": Keeps(),
    "pad by borders": Keeps(),
    "interpolate": Keeps(),
    "interpolate by one kernel": _RESULT,
    "pixel_shuffle": Keeps(),
    "pixel_unshuffle": Keeps(),
    "channel_shuffle": Keeps(),
}


def keeps_format(name: str) -> Callable[[F], F]:
    """Decorate a function of positional arguments, the first an image, that keeps a format as `KEEPS` says."""
    keeps = KEEPS[name]

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def called(image: Any, *others: Any) -> Any:
            array = image.ndarray
            if array.ndim > 3 and (
                array.strides[1] * array.shape[1] <= array.strides[-1] or not array.flags.c_contiguous
            ):
                return with_format(function, keeps, (), (image, *others), {})
            return function(image, *others)

        return called  # type: ignore[return-value]

    return decorate


def with_format(
    function: Callable[..., Any], keeps: Keeps, names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """`function` of the arguments, with results and gradients in the format that its operands suggest.

    `names` are those of the operands.
    """
    given = [*args[: keeps.operands], *[kwargs[name] for name in names if name in kwargs]]
    order = _suggested(keeps, [x for x in given if hasattr(x, "ndarray")])
    if keeps.gradients:
        count = keeps.operands
        args = [*[_followed(x, order) for x in args[:count]], *args[count:]]
        kwargs = {name: _followed(x, order) if name in names else x for name, x in kwargs.items()}
    out = function(*args, **kwargs)
    if not isinstance(out, tuple):
        return _laid(out, out, order)
    return tuple([_laid(x, out[0], order) for x in out])


def _suggested(keeps: Keeps, operands: Sequence[Any]) -> tuple[int, ...]:
    """The order of the first operand that lies with channels last, else rows."""
    rows = tuple(range(operands[0].ndarray.ndim))
    for x in operands:
        order = suggested_order(x.ndarray)
        if order is not None:
            return rows if len(order) == keeps.except_double and x.dtype is float64 else order
    return rows


def _followed(x: Any, order: tuple[int, ...]) -> Any:
    """An operand whose gradient lies in `order`, if it is an image and has one."""
    is_image = hasattr(x, "ndarray") and x.ndarray.ndim == len(order)
    return gradient_in_order(x, order) if is_image and x.requires_grad else x


def _laid(x: Any, first: Any, order: tuple[int, ...]) -> Any:
    """A result in `order`: the first one, and those of its shape."""
    if x.ndarray.shape != first.ndarray.shape or len(order) != x.ndarray.ndim:
        return x
    laid = in_order(x, order)
    inner, node = getattr(x, "_node", None), getattr(laid, "_node", None)
    if laid is not x and node is not None and inner is not None:
        node.rename(inner.title)
        node.shown_edges = inner.shown_edges
    return laid
