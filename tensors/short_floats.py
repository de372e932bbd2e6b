"""Composites of 16-bit floating-point numbers: computed in float32 and rounded once, as PyTorch's kernels do it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..ops.callers.signatures import parameter_names
from ..ops.pointwise import cast
from ..ops.types import DType, bool_, float32, int64, is_short_float
from .composite import relabel
from .tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def rounded_once(function: F) -> F:
    """Decorate a function of several ops that is one kernel in PyTorch.

    A call with another result's type, or that writes to its operand, is left as it is.
    """
    names = parameter_names(function)
    inplace = names.index("inplace") if "inplace" in names else len(names)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, Tensor) and is_short_float(arg.ndarray.dtype):
                if _is_one_kernel(arg.dtype, args, kwargs) and not (kwargs.get("inplace") or True in args[inplace:]):
                    return _in_float32(function, arg.dtype, args, kwargs)
                break
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def _is_short(x: Any) -> bool:
    return isinstance(x, Tensor) and is_short_float(x.ndarray.dtype)


def _is_one_kernel(short: DType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """What may not stand together is refused by the function itself, which also converts to a dtype that is given."""
    given = (*args, *kwargs.values())
    if any(isinstance(x, DType) for x in given):
        return False
    return all(x.dtype in (short, bool_, int64) for x in given if isinstance(x, Tensor))


def _in_float32(function: Callable[..., Any], short: DType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = function(*map(_wide, args), **{name: _wide(x) for name, x in kwargs.items()})
    if isinstance(out, tuple):
        return tuple(_rounded(x, short, args) for x in out)
    return _rounded(out, short, args)


def _wide(x: Any) -> Any:
    return cast(x, float32) if _is_short(x) else x


def _rounded(x: Any, short: DType, operands: tuple[Any, ...]) -> Any:
    if not isinstance(x, Tensor) or x.dtype is not float32:
        return x
    out = cast(x, short)
    if x.grad_fn is not None and out.grad_fn is not None:
        relabel(out, x.grad_fn.title, operands)
    return out
