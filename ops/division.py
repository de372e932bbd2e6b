"""Division with a remainder. Integers are never divided by zero: it is an error, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .core import NotImplementedRule
from .elementwise.descriptions import Doc
from .pointwise import Op, floating_domain, pointwise, without_bool
from .sources import zeros


def _division(
    name: str,
    helper: str,
    eval: Callable[..., Any],
    title: str,
    vjp: dict[str, Any],
    doc: Doc,
    backward_name: str | None = None,
    wide_scalars: Sequence[int] = (),
) -> Op:
    domain = without_bool(f"\"{title}\" not implemented for 'Bool'")
    evaluate = _refusing_zero(name, eval)
    c = f"{helper}{{f}}({{x}}, {{y}})"
    return pointwise(
        name,
        inputs=("x", "y"),
        c=c,
        eval=evaluate,
        vjp=vjp,
        domain=domain,
        backward_name=backward_name,
        check=_check_divisor(name),
        wide_scalars=wide_scalars,
        numbers=("y",) if name == "fmod" else ("x", "y"),
        doc=doc,
    )


def _check_divisor(name: str) -> Callable[[np.ndarray], None]:
    def check(y: np.ndarray) -> None:
        if y.dtype.kind in "iu" and not np.all(y):
            raise RuntimeError(
                f"ZeroDivisionError: {name} of integers by zero; exclude the zeros first, "
                f"e.g. where(y == 0, 1, y), or divide floats"
            )

    return check


def _refusing_zero(name: str, eval: Callable[..., Any]) -> Callable[..., Any]:
    check = _check_divisor(name)

    def evaluate(x: np.ndarray, y: np.ndarray) -> Any:
        check(y)
        return eval(x, y)

    return evaluate


def _remainder(x: np.ndarray, y: np.ndarray) -> Any:
    """The remainder with the divisor's sign. A zero keeps the dividend's sign (PyTorch), where numpy changes it."""
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


# PyTorch has no derivative of it; that of div(rounding_mode="floor"), `div_floor`, is zero.
_UNDERIVABLE = NotImplementedRule(
    "derivative for aten::floor_divide is not implemented. Use div(rounding_mode='floor')"
)
floor_divide = _division(
    "floor_divide",
    "tg_floordiv",
    np.floor_divide,
    "div_floor_cpu",
    dict.fromkeys("xy", _UNDERIVABLE),
    backward_name="NotImplemented",
    wide_scalars=(1,),
    doc=Doc(
        "``floor(input / other)``, the whole quotient rounded down. RuntimeError for integers divided by 0, and for\n"
        "its derivative, which is not implemented.",
        "tg.floor_divide(tg.tensor([7, -7]), 2)",
        "tensor([ 3, -4])",
    ),
)
# Of floating-point numbers, since integers have no derivative.
div_floor = pointwise(
    "div_floor",
    inputs=("x", "y"),
    domain=floating_domain,
    c="tg_floordiv{f}({x}, {y})",
    eval=np.floor_divide,
    vjp={"x": lambda x_type: zeros(x_type), "y": lambda y_type: zeros(y_type)},
    backward_name="DivBackward2",
    wide_scalars=(1,),
)
remainder = _division(
    "remainder",
    "tg_remainder",
    _remainder,
    "remainder_cpu",
    {"x": lambda g: g, "y": lambda g, x, y: -g * div_floor(x, y)},
    doc=Doc(
        "``input - other * floor(input / other)``: what is left, with the sign of `other`, as Python's ``%``.\n"
        "RuntimeError for integers divided by 0.",
        "tg.remainder(tg.tensor([7., -7.]), 3)",
        "tensor([1., 2.])",
    ),
)
# Towards zero; of floating-point numbers, since integers have `functional.arithmetic.div`.
trunc_divide = pointwise(
    "trunc_divide",
    inputs=("x", "y"),
    domain=floating_domain,
    c="tg_trunc{f}({x} / {y})",
    eval=lambda x, y: np.trunc(x / y),
    vjp={"x": lambda x_type: zeros(x_type), "y": lambda y_type: zeros(y_type)},
    backward_name="DivBackward2",
    wide_scalars=(1,),
)
# The result has the dividend's sign.
fmod = _division(
    "fmod",
    "tg_fmod",
    np.fmod,
    "fmod_cpu",
    {"x": lambda g: g, "y": lambda g, x, y: -g * trunc_divide(x, y)},
    doc=Doc(
        "``input - other * trunc(input / other)``: what is left, with the sign of `input`, as C's fmod.\n"
        "RuntimeError for integers divided by 0.",
        "tg.fmod(tg.tensor([7., -7.]), 3)",
        "tensor([ 1., -1.])",
    ),
)
