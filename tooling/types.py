"""``tracegrad.types``: names for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..ops.types import DType
from ..tensors.device import device
from ..tensors.tensor import Size, Tensor

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = Any
Storage: TypeAlias = Any
TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_int, _float, _bool, _complex, _size, _dtype, _device = int, float, bool, complex, Size, DType, device
