"""What a recorded call writes into namespaces past its guards.

Guards are on names that code mentions *and* that are there. A call may give a module, a function or a logger a name
that it did not have, or write one that it computes (``setattr(module, name, value)``): each guard still holds, and a
replay would leave the write out. So the namespaces that the call reaches are compared, entry by entry, before and
after it.
"""

from __future__ import annotations

import functools
import logging
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..common.classes import is_a
from .states import different_entries
from .value_kinds import is_users, own_attributes

# Whose entries nothing counts; those of classes and objects of programs are counted, this package's own declared.
_OWNERS = (types.ModuleType, types.FunctionType, functools.partial, logging.Logger, type)
_LOADED_LATE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


class Namespaces:
    """The entries of the namespaces of `reached` objects, and of the globals (`spaces`) of code, as they are now."""

    def __init__(self, reached: Iterable[Any], spaces: Iterable[dict[str, Any]]) -> None:
        own: dict[int, tuple[Any, Any, bool]] = {id(space): (None, space, True) for space in spaces}
        for owner in reached:
            if is_a(owner, _OWNERS) and (entries := own_attributes(owner)) is not None:
                of_user = not is_a(owner, types.ModuleType) or is_users(owner)
                is_kept = is_a(owner, types.ModuleType)  # others have none yet, or make a new proxy each time
                own.setdefault(id(entries) if is_kept else id(owner), (owner, entries if is_kept else None, of_user))
        self._before = [
            (owner, entries, dict(own_attributes(owner) if entries is None else entries), of_user)
            for owner, entries, of_user in own.values()
        ]
        self._left_out: set[tuple[int, str]] = set()  # entries, by the identity of what holds them

    def leave_out(self, entries: Any, name: Any) -> None:
        """`changed` does not name this entry."""
        self._left_out.add((id(entries), name))

    def changed(self) -> Iterator[str]:
        """The names of the entries that are others now, are new or are gone."""
        for owner, entries, _, name in self._different():
            if (id(entries), name) not in self._left_out:
                yield f"{_name_of(owner)}.{name}".removeprefix(".")

    def restore(self) -> None:
        """Give the entries that `changed` names the values that they had, and take away those that were not there."""
        for owner, entries, before, name in [*self._different()]:
            if not is_a(owner, type):
                if name in before:
                    entries[name] = before[name]
                else:
                    del entries[name]
            elif name in before:
                type.__setattr__(owner, name, before[name])
            else:
                type.__delattr__(owner, name)

    def _different(self) -> Iterator[tuple[Any, Any, dict[str, Any], str]]:
        for owner, space, before, of_user in self._before:
            entries = own_attributes(owner) if space is None else space
            for name in different_entries(entries, before):
                if of_user or not _is_loaded_late(name, before, entries):
                    yield owner, entries, before, name


def _is_loaded_late(name: str, before: dict[str, Any], entries: Mapping[str, Any]) -> bool:
    """True for what a library's module makes of itself when somebody asks for it first."""
    return name not in before and is_a(entries.get(name), _LOADED_LATE)


def _name_of(owner: Any) -> str:
    if owner is None:  # the globals of code, whose entries are known by their names alone
        return ""
    return str(getattr(owner, "__name__", None) or getattr(owner, "name", type(owner).__name__))
