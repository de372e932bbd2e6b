"""The limits of element types: ``finfo(float32).eps``, ``iinfo(int64).max``."""

from __future__ import annotations

import numpy as np

from ..ops.types import DType, get_default_dtype
from ..tracing.declares import Declares


class finfo:
    """What a floating type can hold: ``eps``, ``max``, ``min``, ``tiny``, ``resolution``, ``bits``."""

    _declares = Declares(attributes=True)

    def __init__(self, dtype: DType | None = None) -> None:
        info = np.finfo((dtype or get_default_dtype()).numpy)
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(info.resolution)


class iinfo:
    """What an integer type can hold: ``max``, ``min``, ``bits``."""

    _declares = Declares(attributes=True)

    def __init__(self, dtype: DType) -> None:
        info = np.iinfo(dtype.numpy)
        self.bits, self.max, self.min = int(info.bits), int(info.max), int(info.min)
