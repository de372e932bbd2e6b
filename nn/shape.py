"""Layers that give their input another shape, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..functional.shapes import flatten, unflatten
from ..tensors.tensor import Tensor
from .module import Module


class Identity(Module):
    """Gives back its input, whatever it is; all arguments of the constructor are ignored.

    It stands where a model has a place for a layer and none is wanted.

    >>> import tracegrad as tg
    >>> x = tg.ones(2)
    >>> tg.nn.Identity(54, unused=True)(x) is x
    True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(Module):
    """Joins the axes from `start_dim` to `end_dim` into one: by default all but the first, the batch's (1 and -1).

    Input [..., a, b, c, ...], output [..., a * b * c, ...], a view where memory allows, of the same type. IndexError
    for axes that are not there, RuntimeError for `start_dim` behind `end_dim`.

    >>> import tracegrad as tg
    >>> tg.nn.Flatten()(tg.zeros(2, 3, 4, 5)).shape
    tracegrad.Size([2, 60])
    >>> tg.nn.Flatten(0, 2)(tg.zeros(2, 3, 4, 5)).shape
    tracegrad.Size([24, 5])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


def _whole_numbers(sizes: Any) -> tuple[int, ...]:
    """TypeError, as the module is made, for what is no tuple of integers."""
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
    for place, size in enumerate(sizes):
        if not isinstance(size, int):
            kind = type(size).__name__
            raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {kind} at pos {place}")
    return tuple(sizes)


class Unflatten(Module):
    """Splits the axis `dim` into axes of the sizes `unflattened_size`, of which one may be -1: the rest.

    Input [..., n, ...], output [..., *unflattened_size, ...], a view of the same type. RuntimeError where the sizes do
    not make the length of the axis.

    >>> import tracegrad as tg
    >>> tg.nn.Unflatten(1, (3, -1))(tg.zeros(2, 12)).shape
    tracegrad.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = _whole_numbers(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return unflatten(input, self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
