"""Kernels that threads share: the part that computes a range, as the pool calls it, and the kernel that hands it over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NAME = re.compile(r"\w+$")


@dataclass(frozen=True)
class SharedRecord:
    """What ``shared.c.j2`` prints. The pool hands `packed`, an array of addresses, to whoever computes a part, who calls
    the function for [begin, end) with `unpacked`. `extent` and `grain` are C, and so are the `scratch_bytes` that a
    thread other than the caller needs."""

    parameters: str
    packed: tuple[str, ...]
    unpacked: tuple[str, ...]
    extent: str
    grain: str
    scratch: str = "0"
    scratch_bytes: str = "0"


def shared_record(
    parameters: Sequence[str], extent: str, grain: str, scratch_bytes: str = "0", shared: Sequence[str] = ()
) -> SharedRecord:
    """The record for a function with `parameters`; the one named ``scratch``, if any, is memory of each thread.
    `shared` are parameters of the part alone, which the kernel declares."""
    parts = [p if "*" in p else f"TG_UNUSED {p}" for p in (*parameters, *shared)]
    names = [_NAME.findall(p)[0] for p in parts]
    given = [(name, "*" in p) for name, p in zip(names, parts, strict=True) if name != "scratch"]
    taken = {name: f"{'' if pointer else '(long)'}arguments[{n}]" for n, (name, pointer) in enumerate(given)}
    return SharedRecord(
        parameters=", ".join((*parts, "long begin", "long end")),
        packed=tuple(f"(void *){name}" for name, _ in given),
        unpacked=tuple(taken.get(name, "scratch") for name in names),
        extent=extent,
        grain=grain,
        scratch="scratch" if "scratch" in names else "0",
        scratch_bytes=scratch_bytes if "scratch" in names else "0",
    )
