"""Where CPython itself can raise KeyboardInterrupt: at the start of a function, and after a call.

It looks whether a signal has come in no other places (but for the end of a turn of a loop, which is like a place after
the calls in it). So ``with lock:`` is whole: between the lock and the block, and between the block and the release,
there is none. A tracer that raises at any instruction asks for more than there is.
"""

import dis
import functools
import sys
from collections import Counter

import pytest
from interrupting import Tracer

CALLS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_INTRINSIC_1"}


@functools.cache
def _instructions(code):
    return {each.offset: each.opname for each in dis.get_instructions(code)}


@functools.cache
def _handlers(code):
    return [(entry.start, entry.end, entry.target) for entry in dis.Bytecode(code).exception_entries]


def _handler(code, offset):
    found = [target for start, end, target in _handlers(code) if start <= offset < end]
    return found[0] if found else None


class CheckPoints(Tracer):
    """Counts how often such places in code for which `wanted` is true are passed while `call` runs; KeyboardInterrupt
    at `at`: a place, and which time."""

    def __init__(self, wanted, at=None):
        if sys.version_info < (3, 11):
            pytest.skip("Python 3.10 does not tell where the handlers of a function are")
        self.wanted, self.at = wanted, at
        self.where, self.seen = None, Counter()
        self._last = {}  # the instruction before, by frame

    def __call__(self, frame, event, arg):
        if not self.wanted(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._point(frame, "start")
        return self._inside

    def _inside(self, frame, event, arg):
        code, at = frame.f_code, frame.f_lasti
        if event == "opcode":
            before = self._last.get(id(frame))
            self._last[id(frame)] = at
            # What is raised here belongs to this instruction: only where both have the same handler is that the same.
            after_call = before is not None and _instructions(code).get(before) in CALLS
            if after_call and _handler(code, before) == _handler(code, at):
                self._point(frame, at)
        elif event == "return":
            self._last.pop(id(frame), None)
            caller = frame.f_back
            if caller is not None and _instructions(caller.f_code).get(caller.f_lasti) in CALLS:
                self._point(frame, "end")
        return self._inside

    def _point(self, frame, where):
        place = frame.f_code, where
        self.seen[place] += 1
        if (place, self.seen[place]) == self.at:
            sys.settrace(None)
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname} {where}"
            raise KeyboardInterrupt
