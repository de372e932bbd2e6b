"""The code that a recording has found, which is remembered without the objects that have led to it."""

from __future__ import annotations

import types
from collections.abc import Iterable

from ..common.classes import is_a


class FoundCode:
    """Code objects, asked for the names in them."""

    def __init__(self, codes: Iterable[types.CodeType]) -> None:
        self._codes = list(codes)

    def naming(self, name: str) -> set[types.CodeType]:
        """The code that mentions a variable or an attribute, or could by its text."""
        return {c for c in self._codes if name in (*c.co_names, *c.co_freevars, *c.co_cellvars) or name in c.co_consts}

    def mentions(self, name: str) -> bool:
        """True if any of it mentions the variable, attribute or keyword."""
        keywords = (const for code in self._codes for const in code.co_consts if is_a(const, tuple))
        return bool(self.naming(name)) or any(name in const for const in keywords)
