"""What a schedule for all sizes relies on: comparisons that hold for large sizes, to be looked at for each real one."""

from __future__ import annotations

from contextvars import ContextVar

from .standins import is_size

_claims: ContextVar[dict[tuple[int, int], None] | None] = ContextVar("claims", default=None)


def below(a: int, b: int) -> bool:
    """``a < b``, where code that relies on it will be wrong if it is not so."""
    holds = a < b
    if holds and (is_size(a) or is_size(b)):
        claims = _claims.get()
        if claims is not None:
            claims[a, b] = None
    return holds


class noted:
    """The claims (a, b), each ``a < b``, that are made inside the block."""

    def __enter__(self) -> dict[tuple[int, int], None]:
        self._before, claims = _claims.get(), dict[tuple[int, int], None]()
        _claims.set(claims)
        return claims

    def __exit__(self, *exc_info: object) -> None:
        _claims.set(self._before)
