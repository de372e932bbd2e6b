"""Loops with carried values as records of ``repeat.c.j2``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..schedule.expressions import Names
from ..schedule.literals import memory_type
from ..schedule.records import Address, Buffer, RepeatKernel
from .comments import sanitised
from .environment import render


@dataclass(frozen=True)
class CopyText:
    """``memcpy`` of `count` numbers."""

    target: str
    source: str
    count: int


@dataclass(frozen=True)
class RepeatRecord:
    """What ``repeat.c.j2`` prints: the body's functions, then a loop that declares their buffers and calls them."""

    name: str
    comment: str
    parameters: str
    functions: tuple[str, ...]
    arena: str
    copies: tuple[CopyText, ...]
    turns: int
    time: str
    buffers: tuple[str, ...]
    calls: tuple[str, ...]


def repeat_text(
    kernel: RepeatKernel,
    parameters: str,
    names: Names,
    functions: Sequence[str],
    calls: Sequence[str],
    used: frozenset[str],
) -> str:
    """The C function of a loop. `names` tells what it calls the buffers outside, `used` are those of the body that the
    calls name."""
    turns, outputs = dict(kernel.numbers)["turns"], dict(kernel.outputs)
    addresses = dict(kernel.addresses)
    record = RepeatRecord(
        name=kernel.name,
        comment=sanitised(f"{kernel.op}: {turns} turns  {kernel.origin}".rstrip()),
        parameters=parameters,
        functions=tuple(dict.fromkeys(functions)),
        arena=names(outputs["spare"]) if any("arena" in text for text in calls) or _in_arena(kernel, used) else "",
        copies=tuple(
            CopyText(f"{names(copy.target)} + {copy.offset}", names(copy.source), copy.count) for copy in kernel.copies
        ),
        turns=turns,
        time=f"{turns - 1} - turn" if kernel.backwards else "turn",
        buffers=tuple(_declaration(b, addresses, names) for b in kernel.buffers if b.name in used),
        calls=tuple(calls),
    )
    return render("repeat.c.j2", record)


def _in_arena(kernel: RepeatKernel, used: frozenset[str]) -> bool:
    return any(buffer.place != "slot" and buffer.name in used for buffer in kernel.buffers)


def _declaration(buffer: Buffer, addresses: Mapping[str, Address], names: Names) -> str:
    kind = f"{'' if buffer.written else 'const '}{memory_type(buffer.type.dtype)} *"
    if buffer.place != "slot":
        return f"{kind}const {buffer.name} = ({kind})(arena + {buffer.number});"
    place = addresses[buffer.name]
    return f"{kind}const {buffer.name} = {names(place.buffer)} + {place.offset} + t * {place.stride};"
