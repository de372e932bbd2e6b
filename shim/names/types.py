"""``torch.types``: types of what functions take, for annotations, besides those of ``tracegrad.types``."""

from __future__ import annotations

from collections.abc import Sequence

from ...tensors.tensor import Size, Tensor

_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]

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
