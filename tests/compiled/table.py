"""The table of questions: what each asks, how it is to be served, and how an answer is checked.

A question is a program maker whose docstring is the question. `Section.replay`, `Section.rerecord` and
`Section.either` say what is expected of ``tg.compile`` besides the eager result:

* *replay*: Python is skipped. The specialisations are counted, and each call that was not recorded is one call of C.
* *re-record*: Python runs at each call. ``step.explain()`` names the line marked ``# here``; with ``fullgraph=True``
  the function is refused, and the message names the line.
* *either*: a trap. Whatever way it is served, nothing differs; how it was served is counted for the summary.

Every program is run a third time with a side effect beside it, so that it is re-recorded, and compared again.
"""

import functools
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from compiled.known_defects import KNOWN
from side_by_side import CALLS, Program, assert_agree, made, run

REPLAY, RERECORD, EITHER, EAGER = "replay", "re-record", "either", "eager"
LONGEST_RERUN = 8  # calls: what long runs show, they show when replayed


@dataclass(frozen=True, eq=False)
class Question:
    """One row of the table."""

    section: str
    make: Callable[[Any], Program]
    way: str
    calls: int = CALLS
    specialisations: int | None = None
    c_calls: int | None = None  # None: one for each call that is not recorded

    def __str__(self) -> str:
        return self.make.__name__

    @property
    def text(self) -> str:
        return inspect.getdoc(self.make) or ""

    def lines(self) -> list[str]:
        """``file:line`` of each line of the program that is marked ``# here``."""
        code, start = inspect.getsourcelines(self.make)
        file = Path(inspect.getsourcefile(self.make) or "").name
        return [f"{file}:{start + i}" for i, line in enumerate(code) if line.rstrip().endswith("# here")]


@dataclass
class Section:
    """The questions of one file."""

    name: str
    questions: list[Question] = field(default_factory=list)

    def _add(self, make: Callable[[Any], Program], **facts: Any) -> Callable[[Any], Program]:
        self.questions.append(Question(self.name, make, **facts))
        return make

    def replay(self, specialisations: int = 1, **facts: Any) -> Callable[..., Any]:
        return lambda make: self._add(make, way=REPLAY, specialisations=specialisations, **facts)

    def rerecord(self, **facts: Any) -> Callable[..., Any]:
        return lambda make: self._add(make, way=RERECORD, **facts)

    def either(self, **facts: Any) -> Callable[..., Any]:
        return lambda make: self._add(make, way=EITHER, **facts)

    def rows(self) -> list[Any]:
        """The questions as parameters of a test."""
        return [pytest.param(question, id=str(question), marks=_marks(question)) for question in self.questions]


def _marks(question: Question) -> list[Any]:
    """A strict xfail for what is known to be wrong; PyTorch's side of the table has no part in it."""
    defect = None if os.environ.get("TRACEGRAD_REFERENCE") == "torch" else KNOWN.get(str(question))
    return [pytest.mark.xfail(reason=defect, strict=True)] if defect else []


def answer(tg: Any, question: Question, c_calls: list[Any]) -> str:
    """Run the question's program eager and compiled, compare, and check the way; returns the way."""
    expected, _, _ = run(tg, question.make, False, question.calls)
    actual, step, program = run(tg, question.make, True, question.calls)
    assert_agree(actual, expected)
    if question.way == REPLAY:
        assert step.way == REPLAY and RERECORD not in program.ways, _explanation(step)
        _assert_counts(question, step, len(c_calls))
    elif question.way == RERECORD:
        assert RERECORD in program.ways, _explanation(step)
        _assert_names_line(question, step.explain())
        _assert_refused(tg, question)
    assert_right_when_rerecorded(tg, question, expected)
    return next(way for way in (RERECORD, REPLAY, EAGER) if way in program.ways)


def assert_right_when_rerecorded(tg: Any, question: Question, expected: list[Any]) -> None:
    """The same program with a side effect beside it, so that Python runs at each call, is right as well."""
    if question.way == RERECORD:
        return  # it was
    calls = min(question.calls, LONGEST_RERUN)
    actual, step, _ = run(tg, functools.partial(run_beside_a_list, question.make), True, calls)
    assert_agree(actual, expected[:calls])
    assert not step.specialisations


def run_beside_a_list(make: Callable[..., Program], tg: Any, wrap: Any) -> Program:
    """The program of `make`, with a step that also appends to a list."""
    program, log = made(make, tg, wrap), []
    step = program.step

    def logged(*args: Any, **kwargs: Any) -> Any:
        log.append(len(log))
        return step(*args, **kwargs)

    program.step = logged
    return program


def _explanation(step: Any) -> str:
    return f"{step.way}\n{step.explain()}"


def _assert_counts(question: Question, step: Any, c_calls: int) -> None:
    made = len(step.specialisations) - step.programs.more_sizes
    expected = question.calls - (question.specialisations or 0) if question.c_calls is None else question.c_calls
    counted, wanted = (made, c_calls), (question.specialisations, expected)
    assert counted == wanted, f"(specialisations, C calls): {counted}, not {wanted}"


def _assert_refused(tg: Any, question: Question) -> None:
    """With ``fullgraph=True`` the program is refused, by the line."""
    with pytest.raises(tg.compiler.errors.CaptureError) as error:
        run(tg, question.make, True, question.calls, fullgraph=True)
    message = str(error.value)
    assert len(message.splitlines()) >= 3, message
    _assert_names_line(question, message)


def _assert_names_line(question: Question, text: str) -> None:
    lines = question.lines()
    assert not lines or any(re.search(re.escape(line) + r"(?!\d)", text) for line in lines), (lines, text)


def answer_in_pytorch(torch: Any, tg: Any, question: Question) -> None:
    """Our eager mode does what PyTorch does with the same program: equal but for the words of errors."""
    calls = min(question.calls, LONGEST_RERUN)
    expected, actual = (run(library, question.make, False, calls)[0] for library in (torch, tg))
    for note in (*expected, *actual):
        del note["world"]  # the generators' states have other forms
        if isinstance(note["result"], dict) and "raised" in note["result"]:
            del note["result"]["words"]
    assert_agree(actual, expected)
