"""The limits of element types: ``finfo(float32).eps``, ``iinfo(int64).max``."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..ops.types import FLOATING, INTEGER, DType, dtype_from, dtype_of, get_default_dtype
from ..tracing.declares import Declares


class finfo:
    """What a floating type can hold: ``eps``, ``max``, ``min``, ``tiny``, ``resolution``, ``bits``, ``dtype`` (a name).

    Of a complex type, what its parts can hold. TypeError for integers.

    >>> import tracegrad as tg
    >>> tg.finfo(tg.float16).max
    65504.0
    """

    _declares = Declares(attributes=True)

    def __init__(self, dtype: DType | None = None) -> None:
        of = dtype_from(dtype or get_default_dtype())
        if of.category < FLOATING:
            raise TypeError("tracegrad.finfo() requires a floating point input type. Use tracegrad.iinfo instead.")
        part = dtype_of(np.empty(0, of.numpy).real) if of.is_complex else of
        info: Any = ml_dtypes.finfo(part.numpy)
        self.dtype, self.bits = part.name, int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(f"1e-{info.precision}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo:
    """What an integer type can hold: ``max``, ``min``, ``bits``, ``dtype`` (a name). TypeError for other types.

    >>> import tracegrad as tg
    >>> tg.iinfo(tg.uint8)
    iinfo(min=0, max=255, dtype=uint8)
    """

    _declares = Declares(attributes=True)

    def __init__(self, dtype: DType) -> None:
        of = dtype_from(dtype)
        if of.category != INTEGER:
            raise TypeError("tracegrad.iinfo() requires an integer input type. Use tracegrad.finfo instead.")
        info = np.iinfo(of.numpy)
        self.dtype = of.name
        self.bits, self.max, self.min = int(info.bits), int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"
