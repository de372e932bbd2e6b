"""Which members of classes and modules are guarded: those that code names, and those that Python calls by itself.

A method is guarded where it lies, in its class, together with how many members there are: a new one may hide another.
"""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Container, Iterator, Set
from typing import Any

from ...tracing.watched_modules import WatchedModule
from ..common.classes import is_a
from .value_kinds import is_users

# Methods that Python calls only where code mentions one of these; all others with two underscores it calls as it likes.
_TEXT = frozenset({"str", "repr", "format", "ascii", "__format__", "print"})
_COPY = frozenset({"copy", "deepcopy", "replace", "dumps", "dump"})
_ON_MENTION: dict[str, Set[str]] = {
    **dict.fromkeys(("__repr__", "__str__", "__format__"), _TEXT),
    **dict.fromkeys(("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__replace__"), _COPY),
    **dict.fromkeys(("__getstate__", "__setstate__"), _COPY),
    **dict.fromkeys(("__dir__", "__sizeof__", "__annotate__", "__annotate_func__"), frozenset()),
}
ASKING = _TEXT | _COPY
_CONSTRUCTING = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__"})
# What shows an object's own storage, which is looked at in the object.
_STORAGE = (types.GetSetDescriptorType, types.MemberDescriptorType)
_STATELESS = (types.ModuleType, type, types.FunctionType, bool, int, float, complex, str, bytes, tuple, type(None))


def is_method(member: Any) -> bool:
    """True for a member that is no value of its own: it is called, computes an attribute, or shows a slot."""
    return callable(member) or hasattr(type(member), "__get__") or is_a(member, types.MemberDescriptorType)


def methods(kind: type, names: Set[str], ran: Container[types.CodeType], constructed: bool) -> Iterator[str]:
    """The methods, properties and descriptors in a user's class that code may use, if it mentions `names`.

    `ran` is code that is known to run, whoever mentions it. `constructed`: objects may be made of the class, not only
    found.
    """
    for name, member in vars(kind).items():
        if is_method(member) and not is_a(member, _STORAGE):
            if is_used(name, names, constructed) or _code_of(member) in ran:
                yield name


def _code_of(member: Any) -> Any:
    """The code of a method, a property, a classmethod; None if there is none."""
    inner = getattr(member, "fget", None) if is_a(member, property) else getattr(member, "__func__", member)
    return getattr(inner, "__code__", None)


def functions_of(member: Any) -> list[types.FunctionType]:
    """The functions that a method, a property, a classmethod is made of."""
    parts = [member, *(getattr(member, name, None) for name in ("fget", "fset", "fdel", "__func__", "func"))]
    return [part for part in parts if is_a(part, types.FunctionType)]


def is_used(name: str, names: Set[str], constructed: bool) -> bool:
    """True for a method that code may call which mentions `names`, be it that Python calls it by itself."""
    if name in names or name == "forward":
        return True
    if not (name.startswith("__") and name.endswith("__")):
        return False
    if name in _CONSTRUCTING:
        return constructed
    return name not in _ON_MENTION or not _ON_MENTION[name].isdisjoint(names)


def of_library(module: types.ModuleType, names: Set[str]) -> list[str]:
    """The members of a library's module that code which mentions `names` may use."""
    own = vars(module)
    return sorted(name for name in names if name in own and name[:2] != "__")


def is_of_environment(module: types.ModuleType, name: str) -> bool:
    """True for an object of Python's library or numpy that is not the program's (``sys.stdout``, ``os.environ``): which
    one it is matters, not what it leads to."""
    found = vars(module).get(name)
    if is_watched(module) or not _is_standard(module):
        return False
    return not (is_a(found, _STATELESS) or callable(found) or is_container_of(module, name))


def is_container_of(module: types.ModuleType, name: str) -> bool:
    """True for a list, a dict or a set that a module of Python's library or numpy keeps."""
    found = vars(module).get(name)
    return _is_standard(module) and is_a(found, (list, dict, set, deque)) and found is not sys.modules


def is_watched(module: Any) -> bool:
    """True for this package's modules, which count their changes."""
    return is_a(module, WatchedModule)


def _is_standard(module: types.ModuleType) -> bool:
    return module.__name__.partition(".")[0] in ("numpy", *sys.stdlib_module_names, *sys.builtin_module_names)


def is_used_by_name(name: str) -> bool:
    """False for methods that Python calls by itself."""
    return not (name.startswith("__") and name.endswith("__"))


def users_classes(kind: type) -> list[type]:
    """The user's among a class and its bases, the innermost first."""
    return [base for base in kind.__mro__[:-1] if is_users(base)]
