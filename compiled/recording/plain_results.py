"""What a result may hold besides tensors, so that a replay may hand out the recorded call's own.

It is what cannot change and holds nothing that can: numbers, text, and what a module has under its name. A function or
a class that the call makes is another one at each call, and may hold whatever the call had.
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.callers.class_homes import defined_as
from ...ops.types import DType
from ...tensors.tensor import Size
from ..common.classes import is_a

_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None), type(...), DType, range, np.dtype)
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)
_REBUILT = (list, tuple, dict, Size)


def is_plain(leaf: Any) -> bool:
    """True for what is the same, or as good as the same, whichever call has made it."""
    kind = type(leaf)
    if kind in _IMMUTABLE:
        return True
    if is_a(leaf, (np.number, np.bool_, np.dtype)):
        return kind.__module__.startswith("numpy")  # a subclass may hold anything
    if kind is slice:
        return all(map(is_plain, (leaf.start, leaf.stop, leaf.step)))
    return is_importable(kind if is_a(leaf, enum.Enum) else leaf)


def is_importable(thing: Any) -> bool:
    """True for a function or class that a module has under its name."""
    if not is_a(thing, _NAMED):
        return False
    module, qualified = defined_as(thing) if is_a(thing, type) else (thing.__module__, thing.__qualname__)
    found: Any = sys.modules.get(module or "")
    for name in qualified.split("."):
        found = getattr(found, name, None)
    return found is thing


def held(tree: Any) -> Iterator[Any]:
    """What containers hold besides their items: keys, and their own classes where these are a program's."""
    if is_a(tree, (tuple, list, dict)):
        if type(tree) not in _REBUILT:
            yield type(tree)
        for item in tree.values() if is_a(tree, dict) else tree:
            yield from held(item)
    if is_a(tree, dict):
        for key in tree:
            yield from _parts(key)


def _parts(key: Any) -> Iterator[Any]:
    if type(key) is tuple:
        for part in key:
            yield from _parts(part)
    else:
        yield key
