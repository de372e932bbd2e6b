"""Whether what a compiler wrote is a whole shared library for this process, before the process loads it.

The loader maps a library without asking whether the file has all that its tables promise, and a process that touches
what is missing is killed. So the tables are compared with the file's length, in some 50 µs, where a child process that
loads the library on trial would take 10 ms.
"""

from __future__ import annotations

import struct
import sys

_SHARED_OBJECT, _LOADED = 3, 1
_IDENTITY = b"\x7fELF\2" + (b"\1" if sys.byteorder == "little" else b"\2")  # of 64 bits


def fault_of_library(content: bytes) -> str | None:
    """Why `content` is not a whole library for this process; None if it is, or on a system without ELF files."""
    if not content:
        return "an empty file"
    if not sys.platform.startswith("linux") or struct.calcsize("P") != 8:
        return None
    if len(content) < 64 or content[:6] != _IDENTITY:
        return "no shared library for this machine"
    kind, machine = struct.unpack_from("=HH", content, 16)
    if kind != _SHARED_OBJECT or machine != _own_machine(machine):
        return "no shared library for this machine"
    return None if _is_whole(content) else "a part of a shared library"


def _is_whole(content: bytes) -> bool:
    programs, sections = struct.unpack_from("=QQ", content, 32)
    program_size, program_count, section_size, section_count = struct.unpack_from("=HHHH", content, 54)
    ends = [programs + program_size * program_count, sections + section_size * section_count]
    if program_size < 56 or max(ends) > len(content):
        return False
    for i in range(program_count):
        kind, _, start, _, _, length = struct.unpack_from("=IIQQQQ", content, programs + i * program_size)
        if kind == _LOADED:
            ends.append(start + length)
    return len(ends) > 2 and max(ends) <= len(content)


def _own_machine(otherwise: int) -> int:
    """The processor that this Python was built for, as ELF numbers them."""
    try:
        with open("/proc/self/exe", "rb") as own:
            return int(struct.unpack_from("=H", own.read(20), 18)[0])
    except (OSError, struct.error):
        return otherwise
