"""A schedule as one C file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Call:
    """One line of the step: a call, and the code to return when a check refuses."""

    text: str
    check: int


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
    functions: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def is_long(self) -> bool:
        return len(self.parts) > 1


def render(schedule: Schedule) -> str:
    """The C text of a schedule: a function for each kernel, and ``tracegrad_step``, which calls them in order."""
    buffers = {buffer.name: buffer for buffer in schedule.buffers}
    parts = functions(schedule.kernels, buffers, schedule.sizes)
    places = {buffer.name: place for place, buffer in enumerate(schedule.buffers)}
    calls = list(zip(schedule.kernels, parts, strict=True))
    pieces = [calls[first : first + MOST_CALLS] for first in range(0, len(calls), MOST_CALLS)] or [[]]
    module = Module(
        title=sanitised(schedule.name),
        has_windows=any(isinstance(kernel, ConvKernel) for kernel in schedule.kernels),
        is_shared=any("tg_parallel(" in part.text for part in parts),
        functions=tuple(dict.fromkeys(part.text for part in parts)),
        parts=tuple(_part(f"step_part{n}", schedule, places, piece) for n, piece in enumerate(pieces)),
    )
    text = render_template("module.c.j2", module)
    return text if schedule.sizes is None else schedule.sizes.named(text)


def _part(name: str, schedule: Schedule, places: Mapping[str, int], calls: Sequence[tuple[Kernel, Function]]) -> Part:
    """Some calls of a step, and declarations of the buffers that they name, in the order of the schedule."""
    used = {name for kernel, _ in calls for name in (*writes(kernel), *read_by(kernel))}
    declared = [schedule.buffers[place] for place in sorted(places[name] for name in used)]
    lines = [_declaration(buffer) for buffer in declared]
    return Part(
        name=name,
        uses_arena=any(b.place != "slot" for b in declared) or any("arena +" in part.call for _, part in calls),
        uses_detail=any(part.check for _, part in calls),
        buffers=(*_sizes(schedule, [*lines, *(part.call for _, part in calls)]), *lines),
        calls=tuple(Call(part.call, part.check) for _, part in calls),
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
