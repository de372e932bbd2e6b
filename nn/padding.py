"""Padding layers: constants, and the input reflected, repeated or wrapped around."""

from __future__ import annotations

from collections.abc import Sequence

from ..tensors.tensor import Tensor
from . import functional as F
from .module import Module
from .option import Option


class _Pad(Module):
    """Pads the last axes by one number on all sides, or by (before, behind) from the last axis on."""

    axes, mode = 0, "constant"
    padding, value = Option(), Option()

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        self.value = None

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Pads with `value`."""

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Pads the last axis with `value`."""

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two axes with `value`."""

    axes = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three axes with `value`."""

    axes = 3


class ZeroPad1d(_Pad):
    """Pads the last axis with zeros."""

    axes = 1


class ZeroPad2d(_Pad):
    """Pads the last two axes with zeros."""

    axes = 2


class ZeroPad3d(_Pad):
    """Pads the last three axes with zeros."""

    axes = 3


class ReflectionPad1d(_Pad):
    """Pads the last axis with the input mirrored at its border elements."""

    axes, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two axes with the input mirrored at its border elements."""

    axes, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three axes with the input mirrored at its border elements."""

    axes, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last axis with the border elements."""

    axes, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two axes with the border elements."""

    axes, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three axes with the border elements."""

    axes, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Pads the last axis with what stands at the other end."""

    axes, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Pads the last two axes with what stands at the other end."""

    axes, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Pads the last three axes with what stands at the other end."""

    axes, mode = 3, "circular"
