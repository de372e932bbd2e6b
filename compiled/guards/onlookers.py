"""Who else may look at the program's objects while a function is recorded.

A recording puts stand-ins into the program's own places only where nobody else can look: no other thread, no tracer,
and no handler of signals. What finalisers and callbacks do in a collection is seen coming (`collection.py`), and so is
code that the function calls and that was not found: for these, numbers are put back.
"""

from __future__ import annotations

import dis
import operator
import signal
import sys
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

from ...ops.callers.source_files import is_standard_file
from ..common.classes import is_a
from .symbolic_safe import is_listed

# Threads that are begun by these programs, and run nothing but them, look at no objects of others. (A queue's thread
# pickles what the program has put into it; the one that hands descriptors to other processes looks at these alone.)
_OWNERS = frozenset(
    {
        "IPython",
        "execnet",
        "ipykernel",
        "tensorboard",
        "tensorboardX",
        "tqdm",
        "xdist",
        "multiprocessing.resource_sharer",
    }
)
_HELPERS = frozenset(
    {"asyncio", "multiprocessing.connection", "queue", "selectors", "socket", "threading", "tornado", "zmq"}
)
_TRACERS = frozenset({"coverage"})  # in C, and looking at lines only
_TOOLS = range(6)  # of sys.monitoring


def are_absent() -> bool:
    """True if no code but the function's own and what it calls can look at anything now without being seen coming."""
    return not (_is_traced() or _has_handlers()) and threads_are_absent()


def threads_are_absent() -> bool:
    """True if no other thread runs code of the program."""
    frames = sys._current_frames()
    del frames[threading.get_ident()]  # a frame that is its own variable would outlive its call
    for frame in frames.values():
        if _is_programs(frame):
            return False
    return True


def will_look(thread: threading.Thread) -> bool:
    """True if a thread that is about to begin may run code of the program: it is not all one of these programs' own."""
    run = type(thread).run
    return "run" in vars(thread) or not _is_owner(str(getattr(run, "__module__", None)))


def _is_owner(module: str) -> bool:
    return module.partition(".")[0] in _OWNERS or module in _OWNERS


def _has_handlers() -> bool:
    """True if the program lets Python call something when a signal comes, be it in the middle of a line."""
    handlers = map(signal.getsignal, signal.valid_signals())
    return any(callable(handler) and handler is not signal.default_int_handler for handler in handlers)


def _is_programs(frame: types.FrameType | None) -> bool:
    """False for a thread, given by its innermost frame, that runs nothing of the program's."""
    is_owned = False
    is_foreign = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if _is_owner(module):
            is_owned = True
        elif module.partition(".")[0] not in _HELPERS and module not in _HELPERS:
            is_foreign = True
        frame = frame.f_back
    return is_foreign or not is_owned


def _is_traced() -> bool:
    tracer = sys.gettrace()
    if sys.getprofile() is not None:
        return True
    if tracer is not None and type(tracer).__module__.partition(".")[0] not in _TRACERS:
        return True
    monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return monitoring is not None and any(monitoring.get_tool(tool) not in (None, *_TRACERS) for tool in _TOOLS)


# ----------------------------------------------------------------------------------------------- what a function keeps

_MUTABLE = (list, dict, set, bytearray, deque, OrderedDict, defaultdict)
_READ_ONLY = (tuple, frozenset, str, bytes, types.MappingProxyType)
_OPERATORS = frozenset(dir(operator))
_IN_PLACE = {f"i{name.rstrip('_')}" for name in _OPERATORS} & _OPERATORS
_CHANGING = frozenset(
    {name for kind in _MUTABLE for name in dir(kind)} - {name for kind in _READ_ONLY for name in dir(kind)}
    | _IN_PLACE
    | {f"__{name}__" for name in _IN_PLACE}
    | {"__setattr__", "delitem", "send", "setattr", "setitem"}
)
_KEEPING = frozenset({"STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "STORE_NAME", "YIELD_VALUE"})


_FINALIZE = weakref.finalize.__call__.__code__  # which calls whatever it was given


def keeps_nothing(codes: Iterable[types.CodeType], objects: Iterable[Any]) -> bool:
    """True if none of this code can put anything where others find it: a number that it is given stays its own."""
    return not any(map(_keeps, codes)) and not any(
        is_a(value, types.BuiltinFunctionType) and value.__name__ in _CHANGING for value in objects
    )


def _keeps(code: types.CodeType) -> bool:
    names = {*code.co_names, *(constant for constant in code.co_consts if is_a(constant, str))}
    if not names.isdisjoint(_CHANGING):
        return True
    for each in dis.get_instructions(code):
        in_place = each.opname.startswith("INPLACE_") or (each.opname == "BINARY_OP" and each.argrepr.endswith("="))
        shared = each.opname == "STORE_DEREF" and each.argval in code.co_freevars
        if in_place or shared or each.opname in _KEEPING:
            return True
    return False


def may_look(frame: types.FrameType) -> bool:
    """False for code of a library which takes a stand-in for the number and shows it to nobody, and for what such a
    library calls in Python's own."""
    outer: types.FrameType | None = frame
    while outer is not None and outer.f_code is not _FINALIZE:
        module = str(outer.f_globals.get("__name__"))
        if is_listed(module):
            return False
        if not is_standard_file(outer.f_code.co_filename) and not module.startswith("namedtuple_"):  # made by Python
            return True
        outer = outer.f_back
    return True
