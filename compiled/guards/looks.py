"""Ways to look at one place: what a fact calls to see what is there now. None of them raises."""

from __future__ import annotations

import abc
import decimal
import functools
import logging
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any


def own_attributes(value: Any) -> Any:
    """The object's ``__dict__``, without asking a ``__getattr__``; None if there is none."""
    if isinstance(value, threading.local):
        return value.__dict__  # this thread's
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def still(owner: Any, name: str, value: Any) -> bool:
    """Whether an attribute is this very object, whatever is in it."""
    return getattr(owner, name, None) is value


def has_class(value: Any, kind: type) -> bool:
    """Whether the object is of this very class: a program may give it another one."""
    return type(value) is kind


def member(module: types.ModuleType, name: str) -> Any:
    """What a library's module has under a name. Nothing is ever put there for a recording."""
    return vars(module).get(name)


class Behind(tuple[Any, ...]):
    """What is in a mapping now: no place where a number can be put."""

    __slots__ = ()


def behind(proxy: Mapping[Any, Any]) -> Behind:
    """The keys and values of a mapping that cannot be written through."""
    return Behind((*proxy, *proxy.values()))


def contents(module: types.ModuleType, name: str) -> Behind | None:
    """What is in a list, a set or a dict of a library's module now; None if there is none any more."""
    found = vars(module).get(name)
    if isinstance(found, dict):
        return behind(found)
    return None if found is None else Behind(found)


def decimal_context() -> tuple[Any, ...]:
    """What the arithmetic of decimals depends on."""
    context = decimal.getcontext()
    traps = tuple(kind for kind, is_set in context.traps.items() if is_set)
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, *traps


def size(of: Mapping[str, Any]) -> int:
    """How many members a class has: a new one may hide another."""
    return len(of)


def registrations() -> Callable[[], bool]:
    """Whether no class was registered with an abstract base class since now: `isinstance` may answer otherwise."""
    return functools.partial(_is_token, abc.get_cache_token())


def _is_token(token: Any) -> bool:
    return bool(abc.get_cache_token() == token)


def hidden(names: frozenset[str], attributes: list[dict[str, Any]]) -> int:
    """How many of these objects have an attribute of one of these names."""
    return len(attributes) - sum(map(names.isdisjoint, attributes))


def only_tells(get: Callable[[], Any]) -> bool:
    """True if ``get()`` tells whether something is still the same, and not what is there."""
    return isinstance(get, functools.partial) and get.func in (still, has_class, _is_token)


def level_of(logger: logging.Logger) -> int:
    """Below which level the logger is silent."""
    return logging.CRITICAL + 1 if logger.disabled else max(logger.getEffectiveLevel(), logger.manager.disable + 1)
