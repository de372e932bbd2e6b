"""Division with a remainder. Integers are never divided by zero: it is an error, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .pointwise import Op, pointwise, without_bool
from .rounding import trunc
from .sources import zeros


def _division(name: str, eval: np.ufunc, title: str, vjp: dict[str, Any]) -> Op:
    domain = without_bool(f"\"{title}\" not implemented for 'Bool'")
    evaluate = _refusing_zero(name, eval)
    return pointwise(name, inputs=("x", "y"), c=f"tg_{name}{{f}}({{x}}, {{y}})", eval=evaluate, vjp=vjp, domain=domain)


def _refusing_zero(name: str, eval: np.ufunc) -> Callable[..., Any]:
    def evaluate(x: np.ndarray, y: np.ndarray) -> Any:
        if y.dtype.kind == "i" and not np.all(y):
            raise RuntimeError(
                f"ZeroDivisionError: {name} of integers by zero; exclude the zeros first, "
                f"e.g. where(y == 0, 1, y), or divide floats"
            )
        return eval(x, y)

    return evaluate


# PyTorch's floor_divide has no backward; zero, the derivative between the jumps, is what its
# div(rounding_mode="floor") gives.
floor_divide = _division(
    "floor_divide",
    np.floor_divide,
    "div_floor_cpu",
    {"x": lambda x_type: zeros(x_type), "y": lambda y_type: zeros(y_type)},
)
# The result has the divisor's sign.
remainder = _division(
    "remainder",
    np.remainder,
    "remainder_cpu",
    {"x": lambda g: g, "y": lambda g, x, y: -g * floor_divide(x, y)},
)
# The result has the dividend's sign.
fmod = _division(
    "fmod",
    np.fmod,
    "fmod_cpu",
    {"x": lambda g: g, "y": lambda g, x, y: -g * trunc(x / y)},
)
