"""Random complex numbers: both parts are drawn, side by side as they lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.complex_numbers.parts import view_as_complex
from ...ops.identity import copy
from ...ops.types import DType, real_of

Draw = Callable[..., Any]


def with_complex(draw: Draw, scale: float = 1.0) -> Draw:
    """`draw`, for complex types too; the parts are multiplied by `scale`, so that the numbers have the wanted size."""

    def drawn(shape: tuple[int, ...], dtype: DType, generator: Any = None, strides: Any = None) -> Any:
        if not dtype.is_complex:
            return draw(shape, dtype, generator, strides)
        parts = draw((*shape, 2), real_of(dtype), generator)
        return copy(view_as_complex(parts if scale == 1 else parts * scale))

    return drawn
