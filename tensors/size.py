"""``Size``: what a tensor's ``shape`` is."""

from __future__ import annotations

from typing import Any

from ..ops.types import public_name


class Size(tuple):
    """A shape: a tuple of ints that prints as PyTorch's and knows its product. Sums and slices of it are sizes, too.

    >>> import tracegrad as tg
    >>> tg.Size([2, 3]) + (4,), tg.Size([2, 3]).numel()
    (tracegrad.Size([2, 3, 4]), 6)
    """

    __slots__ = ()
    __module__ = __name__.replace("size", "tensor")  # where saved files look for it

    def numel(self) -> int:
        """The product of the extents: how many elements a tensor of this shape has, 1 without axes.

        >>> import tracegrad as tg
        >>> tg.Size([2, 3]).numel()
        6
        """
        n = 1
        for extent in self:
            n *= extent
        return n

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        return Size(part) if isinstance(key, slice) else part

    def __add__(self, other: Any) -> Any:
        joined = super().__add__(other)
        return Size(joined) if isinstance(joined, tuple) else joined

    def __radd__(self, other: Any) -> Any:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        repeated = super().__mul__(count)
        return Size(repeated) if isinstance(repeated, tuple) else repeated

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"{public_name.package}.Size([{', '.join(map(str, self))}])"
