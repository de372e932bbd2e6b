"""What a place is stored in: where a number may be put for a recording."""

from __future__ import annotations

import functools
import types
from typing import Any

from . import looks
from .reachability import Get, attribute, cell_contents
from .value_kinds import is_users


def storage_of(get: Get) -> tuple[str, Any, Any] | None:
    """What ``get()`` looks at, as a kind ("entry" of a dict, "cell", "class", "slot"), its owner and a name.

    None for what nothing else can be stored in: defaults of arguments, computed attributes, context variables.
    """
    if not isinstance(get, functools.partial):
        return None
    if get.func is cell_contents:
        return "cell", get.args[0], None
    owner = getattr(get.func, "__self__", None)
    if type(owner) is dict:
        return ("entry", owner, get.args[0]) if get.args[0] in owner else None
    return _storage_of_attribute(*get.args) if get.func is attribute else None


def _storage_of_attribute(value: Any, name: str) -> tuple[str, Any, Any] | None:
    now = attribute(value, name)
    own = looks.own_attributes(value)
    if type(own) is dict and name in own:
        return ("entry", own, name) if own[name] is now else None
    for base in value.__mro__ if isinstance(value, type) else type(value).__mro__:
        if name in vars(base):
            found = vars(base)[name]
            if isinstance(found, types.MemberDescriptorType):
                return "slot", value, name
            return ("class", base, name) if found is now and is_users(base) else None
    return None
