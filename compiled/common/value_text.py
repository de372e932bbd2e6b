"""The text of any value, written without running any code of the user's.

`repr` runs `__repr__` of whatever it comes upon, which may count, log or fail: what is said of a call must not change
what the program does. Only types whose text is written by Python or numpy alone are asked; containers are opened here.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import types
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from .classes import is_a

MOST = 30  # entries of a container that are shown: more than fit in a line
DEEPEST = 8  # containers inside of each other; also what ends those that hold themselves

_SCALARS = frozenset({
    str, bytes, bytearray, int, float, complex, bool, type(None), range, types.EllipsisType, types.NotImplementedType,
    types.FunctionType, types.CodeType, decimal.Decimal, fractions.Fraction, datetime.date, datetime.timedelta,
    pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
})  # fmt: skip
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("frozenset({", "})"),
}  # fmt: skip


def value_text(value: Any, depth: int = 0) -> str:
    """What `repr` says of values of Python's own types; of others the class and the address, or an enum's name."""
    kind = type(value)
    if kind in _SCALARS or _is_of_numpy(value):
        return repr(value)
    if is_a(kind, enum.EnumMeta):
        return f"<{type.__repr__(kind)[8:-2].rpartition('.')[2]}.{object.__getattribute__(value, '_name_')}>"
    if issubclass(kind, type):
        return type.__repr__(value)
    if depth == DEEPEST and (kind is dict or kind in _BRACKETS):
        return "..."
    if kind is dict:
        items = islice(value.items(), MOST)
        return _joined("{", (f"{value_text(k, depth + 1)}: {value_text(v, depth + 1)}" for k, v in items), "}", value)
    if kind in _BRACKETS and (value or kind in (list, tuple)):
        opening, closing = _BRACKETS[kind]
        texts = (value_text(each, depth + 1) for each in islice(value, MOST))
        return _joined(opening, texts, ",)" if kind is tuple and len(value) == 1 else closing, value)
    return f"{type.__repr__(kind)[8:-2]}()" if kind in _BRACKETS else object.__repr__(value)


def _joined(opening: str, texts: Iterable[str], closing: str, of: Any) -> str:
    return opening + ", ".join(texts) + (", ..." if len(of) > MOST else "") + closing


def _is_of_numpy(value: Any) -> bool:
    """True for numbers, element types and arrays of numpy itself that hold no Python objects."""
    if is_a(value, (np.ndarray, np.generic)) and type(value).__module__ == "numpy":
        return not value.dtype.hasobject
    return is_a(value, np.dtype) and not value.hasobject
