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
        if self.mode == "circular" and input.ndim not in (self.axes + 1, self.axes + 2):
            raise ValueError(f"expected {self.axes + 1}D or {self.axes + 2}D input (got {input.ndim}D input)")
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
    """Pads the last axis with the number `value`.

    `padding` is a number of places for both sides, or (left, right); negative ones crop. Input [batch, channels,
    length] or any other shape, output the same with ``length + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ConstantPad1d((1, 2), 7.0)(tg.ones(1, 3))
    tensor([[7., 1., 1., 1., 7., 7.]])
    """

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two axes with the number `value`.

    `padding` is a number of places for all sides, or (left, right, top, bottom); negative ones crop. Input [batch,
    channels, height, width] or any other shape, output the same with ``height + top + bottom`` and ``width + left +
    right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ConstantPad2d((1, 0, 0, 1), 7.0)(tg.ones(2, 2))
    tensor([[7., 1., 1.],
            [7., 1., 1.],
            [7., 7., 7.]])
    """

    axes = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three axes with the number `value`.

    `padding` is a number of places for all sides, or (left, right, top, bottom, front, back); negative ones crop. Input
    [batch, channels, depth, height, width] or any other shape, output the same with longer axes, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ConstantPad3d(1, 7.0)(tg.ones(1, 1, 2, 3, 4)).shape
    tracegrad.Size([1, 1, 4, 5, 6])
    """

    axes = 3


class ZeroPad1d(_Pad):
    """Pads the last axis with zeros.

    `padding` is a number of places for both sides, or (left, right); negative ones crop. Input [batch, channels,
    length] or any other shape, output the same with ``length + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ZeroPad1d((1, 2))(tg.ones(1, 3))
    tensor([[0., 1., 1., 1., 0., 0.]])
    """

    axes = 1


class ZeroPad2d(_Pad):
    """Pads the last two axes with zeros.

    `padding` is a number of places for all sides, or (left, right, top, bottom); negative ones crop. Input [batch,
    channels, height, width] or any other shape, output the same with ``height + top + bottom`` and ``width + left +
    right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ZeroPad2d((1, 0, 0, 1))(tg.ones(2, 2))
    tensor([[0., 1., 1.],
            [0., 1., 1.],
            [0., 0., 0.]])
    """

    axes = 2


class ZeroPad3d(_Pad):
    """Pads the last three axes with zeros.

    `padding` is a number of places for all sides, or (left, right, top, bottom, front, back); negative ones crop. Input
    [batch, channels, depth, height, width] or any other shape, output the same with longer axes, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ZeroPad3d((0, 0, 0, 0, 1, 1))(tg.ones(1, 2, 3, 4)).shape
    tracegrad.Size([1, 4, 3, 4])
    """

    axes = 3


class ReflectionPad1d(_Pad):
    """Pads the last axis with the input mirrored at its border elements, which are not repeated.

    `padding` is a number of places for both sides, or (left, right), each below the axis's length (RuntimeError). Input
    [batch, channels, length], or without batch, output the same with ``length + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ReflectionPad1d(2)(tg.tensor([[0.0, 1.0, 2.0]]))
    tensor([[2., 1., 0., 1., 2., 1., 0.]])
    """

    axes, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two axes with the input mirrored at its border elements, which are not repeated.

    `padding` is a number of places for all sides, or (left, right, top, bottom), each below its axis's length
    (RuntimeError). Input [batch, channels, height, width], or without batch, output the same with ``height + top +
    bottom`` and ``width + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ReflectionPad2d((1, 0, 1, 0))(tg.tensor([[[0.0, 1.0], [2.0, 3.0]]]))
    tensor([[[3., 2., 3.],
             [1., 0., 1.],
             [3., 2., 3.]]])
    """

    axes, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three axes with the input mirrored at its border elements, which are not repeated.

    `padding` is a number of places for all sides, or (left, right, top, bottom, front, back), each below its axis's
    length (RuntimeError). Input [batch, channels, depth, height, width], or without batch, output the same with longer
    axes, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ReflectionPad3d(1)(tg.ones(1, 1, 2, 3, 4)).shape
    tracegrad.Size([1, 1, 4, 5, 6])
    """

    axes, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last axis with its border elements.

    `padding` is a number of places for both sides, or (left, right). Input [batch, channels, length], or without batch,
    output the same with ``length + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ReplicationPad1d((1, 2))(tg.tensor([[0.0, 1.0, 2.0]]))
    tensor([[0., 0., 1., 2., 2., 2.]])
    """

    axes, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two axes with their border elements.

    `padding` is a number of places for all sides, or (left, right, top, bottom). Input [batch, channels, height,
    width], or without batch, output the same with ``height + top + bottom`` and ``width + left + right``, of the same
    type.

    >>> import tracegrad as tg
    >>> tg.nn.ReplicationPad2d((1, 0, 1, 0))(tg.tensor([[[0.0, 1.0], [2.0, 3.0]]]))
    tensor([[[0., 0., 1.],
             [0., 0., 1.],
             [2., 2., 3.]]])
    """

    axes, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three axes with their border elements.

    `padding` is a number of places for all sides, or (left, right, top, bottom, front, back). Input [batch, channels,
    depth, height, width], or without batch, output the same with longer axes, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.ReplicationPad3d((0, 0, 0, 0, 2, 0))(tg.ones(1, 1, 2, 3, 4)).shape
    tracegrad.Size([1, 1, 4, 3, 4])
    """

    axes, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Pads the last axis with what stands at its other end, as if the input were a ring.

    `padding` is a number of places for both sides, or (left, right), each at most the axis's length (RuntimeError).
    Input [batch, channels, length], or without batch (ValueError for others), output the same with ``length + left +
    right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.CircularPad1d((2, 1))(tg.tensor([[0.0, 1.0, 2.0]]))
    tensor([[1., 2., 0., 1., 2., 0.]])
    """

    axes, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Pads the last two axes with what stands at their other ends, as if the input were a torus.

    `padding` is a number of places for all sides, or (left, right, top, bottom), each at most its axis's length
    (RuntimeError). Input [batch, channels, height, width], or without batch (ValueError for others), output the same
    with ``height + top + bottom`` and ``width + left + right``, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.CircularPad2d((1, 0, 1, 0))(tg.tensor([[[0.0, 1.0], [2.0, 3.0]]]))
    tensor([[[3., 2., 3.],
             [1., 0., 1.],
             [3., 2., 3.]]])
    """

    axes, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Pads the last three axes with what stands at their other ends.

    `padding` is a number of places for all sides, or (left, right, top, bottom, front, back), each at most its axis's
    length (RuntimeError). Input [batch, channels, depth, height, width], or without batch (ValueError for others),
    output the same with longer axes, of the same type.

    >>> import tracegrad as tg
    >>> tg.nn.CircularPad3d(1)(tg.ones(1, 1, 2, 3, 4)).shape
    tracegrad.Size([1, 1, 4, 5, 6])
    """

    axes, mode = 3, "circular"
