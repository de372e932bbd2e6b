"""A schedule as one C file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..schedule.literals import memory_type
from ..schedule.records import Buffer, ConvKernel, Kernel
from ..schedule.schedule import Schedule
from ..schedule.traffic import read_by, writes
from ..sizes.standins import NAMES
from .comments import sanitised
from .environment import render as render_template
from .functions import Function, functions

#: A function with more calls takes the C compiler longer than it is long: all its buffers are alive at once.
MOST_CALLS = 128
#: Letters of C in one unit, about; the compiler takes 0.6 s for them. The number of units is a property of the program,
#: not of the machine, so that its text is the same everywhere.
UNIT_LETTERS = 100_000
MOST_UNITS = 8


@dataclass(frozen=True)
class Call:
    """One line of the step: a call, the code to return when a check refuses, and which call of the step it is."""

    text: str
    check: int
    number: int


@dataclass(frozen=True)
class Part:
    """Calls in order with what they name: a function of its own where a step is long."""

    name: str
    uses_arena: bool
    uses_detail: bool
    buffers: tuple[str, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Module:
    """What ``module.c.j2`` prints."""

    title: str
    has_windows: bool
    is_shared: bool
    has_special: bool
    has_rejection: bool
    functions: tuple[str, ...]
    parts: tuple[Part, ...]
    #: Names of parts that are in other units of the program; its own are seen by these, then.
    others: tuple[str, ...] = ()
    is_one_of_several: bool = False
    #: Parts that the step calls in order, where it stands in this unit and is not one part alone.
    called: tuple[str, ...] = ()
    has_step: bool = True
    #: The slot of a table that gets each call's nanoseconds; 0 where nobody asks for them.
    ticks_slot: int = 0


def render(schedule: Schedule, ticks_slot: int = 0) -> str:
    """The C text of a schedule: a function for each kernel, and ``tracegrad_step``, which calls them in order.

    With a `ticks_slot` it notes in a table how long each call takes.
    """
    calls = _calls(schedule)
    pieces = [calls[first : first + MOST_CALLS] for first in range(0, len(calls), MOST_CALLS)] or [[]]
    module = _module(schedule, pieces, calls)
    called = tuple(part.name for part in module.parts) if len(pieces) > 1 else ()
    text = render_template("module.c.j2", replace(module, called=called, ticks_slot=ticks_slot))
    return text if schedule.sizes is None else schedule.sizes.named(text)


def number_of_units(source: str) -> int:
    """In how many units a program with this C is compiled."""
    return max(1, min(MOST_UNITS, len(source) // UNIT_LETTERS))


def render_units(schedule: Schedule, count: int) -> tuple[str, ...]:
    """The same program in `count` texts, to be compiled side by side: each has some calls in order, with their kernels.

    The first one has ``tracegrad_step``. A kernel that is called in several stands in each of them.
    """
    assert schedule.sizes is None
    calls = _calls(schedule)
    groups = _evenly(calls, count)
    pieces = [[group[n : n + MOST_CALLS] for n in range(0, len(group), MOST_CALLS)] for group in groups]
    whole = _module(schedule, [piece for group in pieces for piece in group], calls)
    names = tuple(part.name for part in whole.parts)
    parts, texts = iter(whole.parts), []
    for number, (group, own) in enumerate(zip(groups, pieces, strict=True)):
        unit = replace(_module(schedule, [], group), parts=tuple(next(parts) for _ in own), is_one_of_several=True)
        if number == 0:
            unit = replace(unit, others=names[len(own) :], called=names)
        texts.append(render_template("module.c.j2", replace(unit, has_step=number == 0)))
    return tuple(texts)


def _calls(schedule: Schedule) -> list[tuple[Kernel, Function]]:
    buffers = {buffer.name: buffer for buffer in schedule.buffers}
    return list(zip(schedule.kernels, functions(schedule.kernels, buffers, schedule.sizes), strict=True))


def _evenly(calls: Sequence[tuple[Kernel, Function]], count: int) -> list[list[tuple[Kernel, Function]]]:
    """The calls in up to `count` groups in order, with about equally many letters of new functions in each."""
    first = {function.text: len(function.text) for _, function in calls}
    total, seen, groups = sum(first.values()), 0, [list[tuple[Kernel, Function]]() for _ in range(count)]
    for kernel, function in calls:
        groups[min(count - 1, seen * count // max(total, 1))].append((kernel, function))
        seen += first.pop(function.text, 0)
    return [group for group in groups if group]


def _module(
    schedule: Schedule,
    pieces: Sequence[Sequence[tuple[Kernel, Function]]],
    calls: Sequence[tuple[Kernel, Function]],
) -> Module:
    """A part of the step for each of `pieces`, and the functions of `calls`."""
    places = {buffer.name: place for place, buffer in enumerate(schedule.buffers)}
    firsts = itertools.accumulate(map(len, pieces), initial=0)
    return Module(
        title=sanitised(schedule.name),
        has_windows=any(isinstance(kernel, ConvKernel) for kernel, _ in calls),
        is_shared=any("tg_parallel(" in function.text for _, function in calls),
        has_special=any("tg_special_" in function.text for _, function in calls),
        has_rejection=any("tg_rejection_" in function.text for _, function in calls),
        functions=tuple(dict.fromkeys(function.text for _, function in calls)),
        parts=tuple(
            _part(f"step_part{n}", schedule, places, piece, first)
            for n, (piece, first) in enumerate(zip(pieces, firsts, strict=False))
        ),
    )


def _part(
    name: str,
    schedule: Schedule,
    places: Mapping[str, int],
    calls: Sequence[tuple[Kernel, Function]],
    first: int,
) -> Part:
    """The calls of a step from number `first` on, and declarations of the buffers that they name, in the order of the
    schedule."""
    used = {name for kernel, _ in calls for name in (*writes(kernel), *read_by(kernel))}
    declared = [schedule.buffers[place] for place in sorted(places[name] for name in used)]
    lines = [_declaration(buffer) for buffer in declared]
    return Part(
        name=name,
        uses_arena=any(b.place != "slot" for b in declared) or any("arena +" in part.call for _, part in calls),
        uses_detail=any(part.check for _, part in calls),
        buffers=(*_sizes(schedule, [*lines, *(part.call for _, part in calls)]), *lines),
        calls=tuple(Call(part.call, part.check, number) for number, (_, part) in enumerate(calls, first)),
    )


def _declaration(buffer: Buffer) -> str:
    kind = f"{'' if buffer.written else 'const '}{memory_type(buffer.type.dtype)} *"
    offset = f"sizes[{buffer.number}]" if buffer.place == "sized" else str(buffer.number)
    place = f"slots[{buffer.number}]" if buffer.place == "slot" else f"({kind})(arena + {offset})"
    return f"{kind}const {buffer.name} = {place};"


def _sizes(schedule: Schedule, lines: Sequence[str]) -> list[str]:
    """The table of sizes, in the slot behind the results, and by name the sizes that `lines` depend on."""
    if schedule.sizes is None:
        return []
    text = "\n".join(lines)
    used = {*schedule.sizes.names_in(text), *re.findall(r"\w+", text)}
    named = [f"const long {name} = sizes[{place}];" for place, name in enumerate(NAMES) if name in used]
    table = f"const int64_t *const sizes = slots[{schedule.sizes_slot}];"
    return [table, *named] if named or "sizes" in used else []
