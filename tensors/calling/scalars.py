"""Numbers, truth values and texts among the arguments of functions, as PyTorch's functions in C take them.

What a parameter takes follows from its annotation: ``keepdim: bool`` takes True and False only, so that
``x.sum(0, 1)``, which means no sum over two axes, is an error and no kept axis.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.types import NUMBERS

#: Parameters that PyTorch calls numbers, where its C takes integers for tensors of integers.
_OF_TENSORS_TYPE = frozenset({"alpha", "beta", "value"})


class Scalar:
    """What a parameter takes that is no tensor: `kind` is bool, int, float or str; None too, if `optional`."""

    def __init__(self, kind: type, title: str, optional: bool) -> None:
        self.title, self._kind, self._optional = title, kind, optional
        plain = {float: {float, int, bool}}.get(kind, {kind})
        #: The classes whose objects need no further look.
        self.exact: set[type] = {*plain, type(None)} if optional else plain

    def taken(self, arg: Any) -> Any:
        """`arg` as functions take it; NotImplemented if PyTorch refuses it."""
        if arg is None:
            return None if self._optional else NotImplemented
        if self._kind is bool:
            return arg if isinstance(arg, bool) else NotImplemented
        if self._kind is str:
            return arg.decode() if isinstance(arg, bytes) else arg if isinstance(arg, str) else NotImplemented
        if isinstance(arg, Array) and (arg.ndim or getattr(arg, "requires_grad", False)):
            return NotImplemented
        return _whole(arg) if self._kind is int else _number(arg)


def _whole(arg: Any) -> Any:
    if isinstance(arg, bool):
        return NotImplemented
    if isinstance(arg, int):  # a stand-in stays one
        return arg
    is_whole = arg.dtype.numpy.kind in "iu" if isinstance(arg, Array) else hasattr(arg, "__index__")
    return operator.index(arg) if is_whole and not isinstance(arg, (np.ndarray, np.bool_)) else NotImplemented


def _number(arg: Any) -> Any:
    if isinstance(arg, (*NUMBERS, Array)):
        return arg
    return arg if isinstance(arg, np.generic) and arg.dtype.kind not in "mMSUO" else NotImplemented


_KINDS = {"bool": bool, "int": int, "float": float, "Number": float, "str": str}


def scalar_of(parameter: inspect.Parameter) -> Scalar | None:
    """What `parameter` takes, if its annotation is one of the kinds (with ``| None`` or without)."""
    text = str(parameter.annotation)
    name = text.removesuffix(" | None")
    if name not in _KINDS or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    title = "Number" if name == "float" and parameter.name in _OF_TENSORS_TYPE else name
    return Scalar(_KINDS[name], title, name != text)
