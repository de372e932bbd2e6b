"""Where the program did what is refused when the call is over: noted as it happens, so that the message has a line."""

from __future__ import annotations

import dis
import random
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...compiler.graph import Origin
from ...ops.callers.source_files import is_user_file, user_place
from ...ops.types import set_default_dtype
from ...tape.grad_mode import set_grad_enabled
from ...tape.handles import RemovableHandle
from ...tensors.tensor import Tensor
from .classes import is_a

_DRAWING = (random.Random, np.random.RandomState, np.random.Generator)
_CONTAINERS = (list, dict, set, deque, bytearray)
_STORING = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})
_FEW = 3  # lines that a message names
_KINDS: dict[types.CodeType, str] = {
    Tensor.data.fset.__code__: "memory",
    Tensor.become.__code__: "memory",
    Tensor.grad.fset.__code__: "gradient",
    Tensor.requires_grad_.__code__: "flag",
    Tensor.register_hook.__code__: "hook",
    Tensor.register_post_accumulate_grad_hook.__code__: "hook",
    RemovableHandle.remove.__code__: "hook",
    set_default_dtype.__code__: "mode",
    set_grad_enabled.__init__.__code__: "mode",
}


def notes_calls_of(code: types.CodeType) -> bool:
    """True for the functions of this library whose calls `EffectLines` notes."""
    return code in _KINDS


class EffectLines:
    """The lines of one recorded call. Without the watch (a profiler is at work) there are none."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int | None], str] = {}
        self._returned: tuple[str, int] | None = None

    def called(self, frame: types.FrameType) -> None:
        """A Python function begins."""
        kind = _KINDS.get(frame.f_code)
        if kind is not None:
            self._note(kind, frame.f_locals.get("self"))

    def called_c(self, called: Any) -> None:
        """A function written in C begins."""
        owner = called.__self__
        if is_a(owner, _DRAWING):
            self._note("random", owner)
        elif is_a(owner, _CONTAINERS):
            self._note("container", owner)

    def returned(self, frame: types.FrameType) -> None:
        """A Python function ends: the last one of the program's is the recorded function."""
        if is_user_file(frame.f_code.co_filename):
            self._returned = frame.f_code.co_filename, frame.f_lineno

    def at(self, kind: str, owner: Any, otherwise: str) -> str:
        """``at file.py:3`` for the last such deed to `owner` (None: to whatever); `otherwise` if none was seen."""
        line = self._lines.get((kind, None if owner is None else id(owner)))
        return otherwise if line is None else f"at {line}"

    def at_return(self, otherwise: str) -> str:
        """``at file.py:3``, where the recorded function returned."""
        return otherwise if self._returned is None else f"at {Origin(*self._returned)}"

    def _note(self, kind: str, owner: Any) -> None:
        self._lines[kind, id(owner)] = self._lines[kind, None] = str(Origin(*user_place()))


def lines_storing(codes: Iterable[types.CodeType]) -> str:
    """``at`` the lines of the program that store items in lists or dicts; empty if there are none."""
    found: dict[str, None] = {}
    for code in codes:
        for instruction, line in with_lines(code):
            if instruction.opname in _STORING and is_user_file(code.co_filename):
                found[str(Origin(code.co_filename, line))] = None
    return "at " + " or ".join(list(found)[:_FEW]) if found else ""


def with_lines(code: types.CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    """The instructions of some code, each with its line."""
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line:
            # A line up to Python 3.12; a flag from 3.13 on, where the line has a field of its own.
            line = int(getattr(instruction, "line_number", None) or instruction.starts_line)
        yield instruction, line
