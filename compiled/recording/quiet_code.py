"""Which code a `CallTrace` need not listen to: most of what is called while a function is recorded is this library.

The verdict depends on the code alone, and is kept for it. What such code calls in turn (hooks, a user's ``backward`` or
``__eq__``, finalisers) has a verdict of its own, so that nothing of the program's is missed.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from ...ops.callers.source_files import is_own_file
from ...runtime.provide import provide_listener
from ..common.effect_lines import notes_calls_of
from .external_effects import spoken_to_by
from .pure_functions import is_pure_module

Note = Callable[[types.FrameType, str, Any], None]
Codes = dict[int, types.CodeType]  # by identity, and so kept alive: its hash is that of all that it consists of

_OWN = __name__.partition(".")[0]
_quiet: Codes = {}  # no event in it says anything
_entered: Codes = {}  # it matters who calls it, and nothing else


def listen_with(note: Note) -> None:
    """``sys.setprofile(note)``, without the events that say nothing."""
    in_c = provide_listener()
    (sys.setprofile if in_c is None else in_c.begin)(listener(note))


def listener(note: Note) -> Note:
    """`note` for `sys.setprofile`, without the events that say nothing."""
    quiet, entered = _quiet, _entered
    judged: Codes = {}  # of this recording: what is generated anew for each program would stay in the others for good

    def listen(frame: types.FrameType, event: str, called: Any) -> None:
        code = id(frame.f_code)
        if code in quiet:
            return
        if event == "call" and code not in judged:
            judged[code] = frame.f_code
            _judge(frame)
            if code in quiet:
                return
        if code not in entered or (event == "call" and not _is_called_by_quiet(frame)):
            note(frame, event, called)

    return listen


def _is_called_by_quiet(frame: types.FrameType) -> bool:
    return frame.f_back is not None and id(frame.f_back.f_code) in _quiet


def _judge(frame: types.FrameType) -> None:
    """Keep the verdict over the code of this frame, if it is of a module of this library, of numpy or of weakref."""
    code, name = frame.f_code, str(frame.f_globals.get("__name__"))
    module = sys.modules.get(name)
    if module is None or vars(module) is not frame.f_globals or notes_calls_of(code) or spoken_to_by(code):
        return
    package = name.partition(".")[0]
    if package == _OWN and is_own_file(getattr(module, "__file__", None) or ""):
        _be_quiet(code)
    elif package in ("numpy", "weakref"):  # by weak references a recorder knows memory
        if is_pure_module(name):
            _be_quiet(code)
        else:
            _entered[id(code)] = code


def _be_quiet(code: types.CodeType) -> None:
    _quiet[id(code)] = code
    in_c = provide_listener()
    if in_c is not None:
        in_c.add(id(code))
