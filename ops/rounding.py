"""Rounding to whole numbers, in the operand's own type; integers stay as they are."""

from __future__ import annotations

import numpy as np

from .elementwise.descriptions import Doc, describe
from .pointwise import Op, cast, common_dtype, floating_domain, pointwise, without_bool
from .sources import zeros
from .types import FLOATING, DType

_TYPES = "Floats and integers keep their type; NotImplementedError for complex numbers and bool."


def _rounding(name: str, c: str, eval: np.ufunc, doc: Doc | None = None) -> Op:
    refuse_bool = without_bool(f"\"{name}_vml_cpu\" not implemented for 'Bool'")

    def domain(dtype: DType) -> DType:
        return floating_domain(refuse_bool(dtype))

    rounded = pointwise(name, c=c, eval=eval, vjp={"x": lambda x_type: zeros(x_type)}, domain=domain)

    def op(input: object) -> object:
        dtype = refuse_bool(common_dtype([input]))
        return rounded(input) if dtype.category >= FLOATING else cast(input, dtype)

    op.__name__ = op.__qualname__ = name
    describe(op, ("x",), (), doc, _TYPES)
    return op


floor = _rounding(
    "floor",
    "tg_floor{f}({x})",
    np.floor,
    doc=Doc(
        "The next whole number at or below each element. The derivative is 0.",
        "tg.floor(tg.tensor([1.7, -1.2]))",
        "tensor([ 1., -2.])",
    ),
)
ceil = _rounding(
    "ceil",
    "tg_ceil{f}({x})",
    np.ceil,
    doc=Doc(
        "The next whole number at or above each element. The derivative is 0.",
        "tg.ceil(tg.tensor([1.2, -1.7]))",
        "tensor([ 2., -1.])",
    ),
)
trunc = _rounding(
    "trunc",
    "tg_trunc{f}({x})",
    np.trunc,
    doc=Doc(
        "The whole part of each element, rounded towards 0. The derivative is 0.",
        "tg.trunc(tg.tensor([1.7, -1.7]))",
        "tensor([ 1., -1.])",
    ),
)
# Halves go to the even neighbour.
round = _rounding("round", "tg_round{f}({x})", np.rint)
