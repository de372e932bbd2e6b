"""Rounding to whole numbers, in the operand's own type; integers stay as they are."""

from __future__ import annotations

import numpy as np

from .pointwise import Op, cast, common_dtype, floating_domain, pointwise, without_bool
from .sources import zeros
from .types import DType


def _rounding(name: str, c: str, eval: np.ufunc) -> Op:
    refuse_bool = without_bool(f"\"{name}_vml_cpu\" not implemented for 'Bool'")

    def domain(dtype: DType) -> DType:
        return floating_domain(refuse_bool(dtype))

    rounded = pointwise(name, c=c, eval=eval, vjp={"x": lambda x_type: zeros(x_type)}, domain=domain)

    def op(x: object) -> object:
        dtype = refuse_bool(common_dtype([x]))
        return rounded(x) if dtype.is_floating_point else cast(x, dtype)

    op.__name__ = op.__qualname__ = name
    return op


floor = _rounding("floor", "tg_floor{f}({x})", np.floor)
ceil = _rounding("ceil", "tg_ceil{f}({x})", np.ceil)
trunc = _rounding("trunc", "tg_trunc{f}({x})", np.trunc)
# Halves go to the even neighbour.
round = _rounding("round", "tg_round{f}({x})", np.rint)
