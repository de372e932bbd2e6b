"""``torch.types``: types of what functions take, for annotations, besides those of ``tracegrad.types``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

from ...tensors.tensor import Size
from ...tensors.tensor import Tensor

_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_size = Union[Size, list[int], tuple[int, ...]]
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
_TensorOrOptionalTensors = Union[Tensor, Sequence[Optional[Tensor]]]

__all__ = [
    "_TensorOrOptionalTensors",
    "_TensorOrTensors",
    "_bool",
    "_bytes",
    "_complex",
    "_float",
    "_int",
    "_size",
    "_str",
]
