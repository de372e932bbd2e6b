"""Kernels that threads share: the part that computes a range, as the pool calls it, and who hands it to the pool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..schedule.records import Split

_NAME = re.compile(r"\w+$")


@dataclass(frozen=True)
class SharedRecord:
    """What ``shared.c.j2`` prints: a function with `parameters` for the part [begin, end) of a kernel's work.

    The pool hands `packed`, an array of addresses, to whoever computes a part, who calls the function with `unpacked`.
    `extent`, `grain` and `worth` are C; `scratch_bytes` is what a thread other than the caller needs.
    """

    parameters: str
    packed: tuple[str, ...]
    unpacked: tuple[str, ...]
    extent: str
    grain: str
    worth: str
    scratch_bytes: int


def worth(extent: int | str, split: Split) -> str:
    """C for what a kernel of `extent` turns is worth."""
    pieces = f"TG_PIECES({extent}, {split.grain})"
    return pieces if split.weight == 1 else f"{pieces} * {split.weight}"


def shared_record(
    parameters: Sequence[str],
    extent: str,
    grain: str,
    worth: str,
    scratch_bytes: int = 0,
    shared: Sequence[str] = (),
) -> SharedRecord:
    """The record for a function with `parameters`; the one named ``scratch``, if any, is memory of each thread.
    `shared` are parameters of the part alone, which the kernel declares."""
    # One of several parts reads some of the buffers only; sizes are there for all that depends on them.
    parts = [p if "*" in p and not shared else f"TG_UNUSED {p}" for p in (*parameters, *shared)]
    names = [_NAME.findall(p)[0] for p in parts]
    given = [(name, "*" in p) for name, p in zip(names, parts, strict=True) if name != "scratch"]
    taken = {name: f"{'' if pointer else '(long)'}arguments[{n}]" for n, (name, pointer) in enumerate(given)}
    return SharedRecord(
        parameters=", ".join((*parts, "long begin", "long end")),
        packed=tuple(f"(void *){name}" for name, _ in given),
        unpacked=tuple(taken.get(name, "scratch") for name in names),
        extent=extent,
        grain=grain,
        worth=worth,
        scratch_bytes=scratch_bytes,
    )
