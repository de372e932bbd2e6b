"""Normalisation of 16-bit inputs with parameters of float32, as it occurs under autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ...ops.pointwise import cast
from ...ops.types import float32, is_short_float
from ...tensors.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def mixed_types(function: F) -> F:
    """Decorate a function of an input and parameters: where the input alone is of a 16-bit type and the parameters are
    of float32, it is computed in float32, and the result rounded to the input's type."""

    @functools.wraps(function)
    def called(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not (isinstance(input, Tensor) and is_short_float(input.ndarray.dtype)):
            return function(input, *args, **kwargs)
        others = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if not others or any(x.dtype is not float32 for x in others):
            return function(input, *args, **kwargs)
        return cast(function(cast(input, float32), *args, **kwargs), input.dtype)

    return called  # type: ignore[return-value]
