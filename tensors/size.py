"""``Size``: what a tensor's ``shape`` is."""

from __future__ import annotations

from typing import Any


class Size(tuple):
    """A shape: a tuple of ints that prints as PyTorch's and knows its product."""

    __slots__ = ()
    __module__ = __name__.replace("size", "tensor")  # where saved files look for it

    def numel(self) -> int:
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
        return f"tracegrad.Size([{', '.join(map(str, self))}])"
