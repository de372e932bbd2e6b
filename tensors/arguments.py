"""Arguments as PyTorch takes them: axes that may be negative, sizes as numbers or as one sequence."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.array import Array
from ..ops.core import current
from ..ops.pointwise import cast
from ..ops.types import bool_
from ..tracing.user_warning import warn_user

Shape = tuple[int, ...]


def axis_of(dim: Any, ndim: int) -> int:
    """`dim` counted from the front; a 0-d tensor allows 0 and -1. IndexError outside, TypeError for what is no int."""
    if type(dim) is int and -ndim <= dim < ndim:
        return dim + ndim if dim < 0 else dim
    limit = max(ndim, 1)
    if isinstance(dim, (bool, np.bool_)) or not hasattr(dim, "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    dim = operator.index(dim)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim + limit if dim < 0 else dim


def axes_of(dims: Any, ndim: int) -> Shape:
    """Sorted axes for a number, a sequence, or None and () (all of them); of a 0-d tensor, none."""
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return tuple(range(ndim))
    if type(dims) is int and -ndim <= dims < ndim:
        return (dims + ndim if dims < 0 else dims,)
    given = dims if isinstance(dims, (tuple, list)) else (dims,)
    axes = sorted(axis_of(dim, ndim) for dim in given)
    for before, after in zip(axes, axes[1:], strict=False):
        if before == after:
            raise RuntimeError(f"dim {after} appears multiple times in the list of dims")
    return tuple(axes) if ndim else ()


def sizes_of(sizes: Sequence[Any]) -> Shape:
    """A shape given as separate numbers or as one sequence of them."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    try:
        for n in sizes:
            if type(n) is not int:
                break
        else:
            return tuple(sizes)
        if isinstance(sizes[0], bool):  # by which PyTorch's C sees that these are no integers; later ones are 0 or 1
            raise TypeError("bool")
        if any(isinstance(n, Array) and n.type_.dtype is bool_ for n in sizes):
            raise RuntimeError(f"Expected sizes to be integers, and no tensors of bool, got {tuple(sizes)!r}")
        return tuple(operator.index(n) for n in sizes)
    except TypeError:
        raise TypeError(f"sizes must be ints or one tuple of ints, got {tuple(sizes)!r}") from None


def named_sizes(function: str, name: str, given: Any) -> Any:
    """The numbers `given` to a function by the name of its sequence: by name that is none of separate numbers.

    >>> named_sizes("flip", "dims", (0, 1))
    (0, 1)
    """
    if isinstance(given, (tuple, list)):
        return given
    raise TypeError(f"{function}(): argument '{name}' must be tuple of ints, not {type(given).__name__}")


def numbers_called(name: str, function_name: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function of a tensor and numbers, so that these may also be one sequence called `name`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(input: Any, *numbers: Any, **named: Any) -> Any:
            if name in named and not numbers:
                numbers = (named_sizes(function_name or function.__name__, name, named.pop(name)),)
            if named:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{next(iter(named))}'")
            if not numbers:
                raise TypeError(f'{function.__name__}() missing 1 required positional arguments: "{name}"')
            return function(input, *numbers)

        return called

    return decorate


def shape_of(x: Any) -> Shape:
    """The shape of whatever the current interpreter calls a value."""
    return current().type_of(x).shape


def mask_of_bytes(x: Any, message: str) -> Any:
    """A uint8 tensor as truth values, which programs took for masks before there was bool; UserWarning."""
    warn_user(message)
    return cast(x, bool_)
