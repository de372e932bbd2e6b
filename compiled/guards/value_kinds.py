"""The kinds of values: which are of the user's program, and which can be guarded.

A value can be guarded if its whole state is found by the walk of `reachability.py`. Others (a memoryview, a weak
reference, objects of extension modules) may change without notice, so a function that may read one is not replayed.
"""

from __future__ import annotations

import array
import contextvars
import datetime
import decimal
import fractions
import functools
import logging
import operator
import pathlib
import random
import re
import struct
import sys
import threading
import types
import typing
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.callers.class_homes import home_of
from ...ops.callers.source_files import USERS, is_user_file
from ...runtime.references import is_without_dict
from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ..common.classes import is_a

_PACKAGE = __name__.partition(".")[0]
CONTAINERS = (list, tuple, set, frozenset, dict, deque)
MUTABLE = (*CONTAINERS, np.ndarray, bytearray, array.array)
PLAIN = (str, bytes, int, float, type(None))

# What never changes; nobody needs to look inside.
_IMMUTABLE = (
    *PLAIN, complex, range, slice, types.EllipsisType, types.NotImplementedType, np.dtype, np.generic, np.ufunc,
    re.Pattern, re.Match, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta,
    datetime.tzinfo, pathlib.PurePath, uuid.UUID, struct.Struct, typing.TypeVar, types.CodeType, types.GenericAlias,
    types.UnionType, operator.attrgetter, operator.itemgetter, operator.methodcaller, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType,
)  # fmt: skip
# What the walk, or what is compared besides its places, knows how to look at.
_FOLLOWED = (
    *CONTAINERS, OrderedDict, defaultdict, bytearray, array.array, types.FunctionType, types.MethodType,
    types.BuiltinFunctionType, types.MethodWrapperType, type, types.ModuleType, types.SimpleNamespace, threading.local,
    functools.partial, functools.cached_property, property, staticmethod, classmethod, contextvars.ContextVar,
    logging.Logger, random.Random, np.random.Generator, np.random.RandomState, types.CellType, types.MappingProxyType,
)  # fmt: skip
# Classes written in C below which a user's class has no more state than its attributes.
_C_BASES = frozenset({*_FOLLOWED, *PLAIN, object, complex, *random.Random.__mro__})
_HEAP, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # flags of CPython's types: made at run time; not to be changed by programs


# What the walk looks at in other ways.
_OTHERWISE = (Tensor, np.ndarray, types.FunctionType, types.MethodType, functools.partial, functools.cached_property)

# Modules whose objects and functions hand things to other threads.
_OF_THREADS = frozenset({"threading", "_thread", "queue", "_queue", "concurrent", "multiprocessing", "asyncio"})


def is_of_threads(value: Any) -> bool:
    """True for what may let another thread see a tensor: threads, pools, queues, locks, and the modules with them."""
    if is_a(value, threading.local):
        return False
    home = value.__name__ if is_a(value, types.ModuleType) else getattr(value, "__module__", None)
    return any(str(name).partition(".")[0] in _OF_THREADS for name in (home, type(value).__module__))


def is_guardable(value: Any) -> bool:
    """True if the value can be guarded: all that code can read from it is found by the walk, and compared."""
    kind = type(value)
    if issubclass(kind, np.ndarray):
        return not value.dtype.hasobject and (kind is np.ndarray or _is_numpys(kind))
    if issubclass(kind, np.void):
        return False  # a view of an array's memory
    return kind in _FOLLOWED or issubclass(kind, (*_IMMUTABLE, type, types.ModuleType, tuple)) or _is_open(kind)


def items_of(container: Any) -> Iterator[Any]:
    """What is in a container now (of a dict keys and values), whatever a user's class makes of going through it, and
    whatever other threads or signal handlers put there meanwhile: it is read by one call, not item by item.
    """
    kind: Any = next(kind for kind in (OrderedDict, *CONTAINERS) if is_a(container, kind))
    return iter([*(kind.items(container) if issubclass(kind, dict) else kind.__iter__(container))])


def _is_open(kind: type) -> bool:
    """True for classes whose objects keep what they know in attributes: written in Python, or by people we know."""
    if _package_of(kind) in (_PACKAGE, "numpy"):
        return True
    if any("__getattribute__" in vars(base) for base in kind.__mro__ if is_users(base)):
        return False  # it may answer as it likes
    if _is_exception(kind):
        return False  # its arguments are no attributes
    return all(base in _C_BASES or _is_exception(base) or _keeps_attributes(base) for base in kind.__mro__)


def _is_numpys(kind: type) -> bool:
    return _package_of(kind) == "numpy"


def _is_exception(kind: type) -> bool:
    return issubclass(kind, BaseException) and kind.__module__ == "builtins"


def _keeps_attributes(kind: type) -> bool:
    """True for the result of a class statement: it has a ``__dict__`` or slots, of its own or from its bases."""
    return is_changeable(kind) and any("__slots__" in vars(base) or "__dict__" in vars(base) for base in kind.__mro__)


def is_changeable(kind: type) -> bool:
    """True for classes whose members can be replaced, and whose objects can be given another class."""
    return bool(kind.__flags__ & _HEAP) and not kind.__flags__ & _IMMUTABLE_TYPE


def is_users(thing: Any) -> bool:
    """True for modules and classes of the user's program, False for libraries and for this package."""
    name = home_of(thing) if is_a(thing, type) else thing.__name__
    module = sys.modules.get(name) if is_a(thing, type) else thing
    file = None if module is None else vars(module).get("__file__")
    if name == "builtins" and is_a(thing, type):  # exec() in a dict without a name gives classes this one
        return is_changeable(thing)
    if file is None:  # a notebook, a REPL, exec; built-in modules have no file either
        return name == "__main__" or (name not in sys.builtin_module_names and name not in sys.stdlib_module_names)
    return is_user_file(file) and name.partition(".")[0] not in sys.stdlib_module_names and not _is_library(file)


def _is_library(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file


def has_attributes(value: Any) -> bool:
    """True for objects with attributes, but for this package's own, unless they declare that these are read."""
    kind = type(value)
    if is_a(value, _OTHERWISE):
        return False
    own = own_attributes(value)
    if is_ours(kind):
        declared = declares(kind)
        return own is not None and declared is not None and declared.attributes
    return own is not None or any(map(_is_open_to_all, kind.__mro__[:-1]))


def _is_open_to_all(kind: type) -> bool:
    """True for a class made by a class statement, but for those whose objects never change."""
    return is_users(kind) or (is_changeable(kind) and not issubclass(kind, _IMMUTABLE))


def own_attributes(value: Any) -> Any:
    """The object's ``__dict__``, without asking a ``__getattr__``; None if there is none.

    An empty one, which is not the object's, where that has none yet: reading makes none.
    """
    if is_a(value, threading.local):
        return value.__dict__  # this thread's
    if is_without_dict(value):
        return {}
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def is_ours(kind: type) -> bool:
    """True for the classes of this package."""
    return _package_of(kind) == _PACKAGE


def is_optimizer(value: Any) -> bool:
    """True for the library's optimizers and classes that inherit from them."""
    declared = declares(type(value))
    return declared is not None and declared.made_of is not None


def _package_of(kind: type) -> str:
    package, _, name = str(home_of(kind)).partition(".")  # Python 3.10 gives a descriptor for some classes made in C
    return "" if package == _PACKAGE and name.partition(".")[0] in USERS else package


def is_named(kind: type) -> bool:
    """True if the code that reads the attributes of such objects is walked, too: not for Python's own classes."""
    return kind is types.SimpleNamespace or any(is_users(base) for base in kind.__mro__[:-1])


def is_decimals(value: Any) -> bool:
    """True for decimals and what their module has: they depend on a context that nobody needs to name."""
    if is_a(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return value.__module__ in ("decimal", "_decimal")
    return value is decimal or is_a(value, decimal.Decimal)
