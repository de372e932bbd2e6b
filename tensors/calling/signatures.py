"""How functions are called that are made from one, such as `zeros` and `ones`. Imported below `TYPE_CHECKING` only."""

from __future__ import annotations

from typing import Any, Protocol

from ...ops.types import DType
from ..tensor import Tensor
from .annotations import DeviceLike, Sizes


class Filling(Protocol):
    """``zeros`` and the like."""

    def __call__(
        self,
        *size: Sizes,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor: ...


class FillingLike(Protocol):
    """``zeros_like`` and the like."""

    def __call__(
        self,
        input: Tensor,
        *,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor: ...
