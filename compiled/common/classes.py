"""Which class an object of the program has: a mock, a proxy or a lazy object may say of itself that it has another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class StandIn:
    """A base of what this package puts in the place of a program's value, and which says that it has its class."""

    __slots__ = ()


if TYPE_CHECKING:
    from builtins import isinstance as is_a  # for what it tells about the types of variables
else:

    def is_a(value: Any, kinds: Any) -> bool:
        """``isinstance(value, kinds)`` without asking the value: its ``__class__`` may lie, raise, or be seen.

        >>> import weakref
        >>> import tracegrad as tg
        >>> x = tg.ones(1)
        >>> is_a(True, (int, str)), is_a(weakref.proxy(x), tg.Tensor)
        (True, False)
        """
        kind = type(value)
        return issubclass(kind, kinds) or (issubclass(kind, StandIn) and isinstance(value, kinds))
