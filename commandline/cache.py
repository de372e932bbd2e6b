"""``python -m tracegrad cache``: where compiled programs are kept, how much there is, and clearing it up."""

from __future__ import annotations

import argparse
import sys

from ..runtime import contents
from ..runtime.cache import default_directory
from ..runtime.errors import CacheUnusable, printable
from ..runtime.eviction import bound

_UNITS = ("B", "KiB", "MiB", "GiB")


def main(arguments: list[str]) -> int:
    """Show the cache, or delete from it; 1 if it cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        directory, most = default_directory(), bound()
        gone = None
        if options.clear:
            gone = contents.clear(directory)
        elif options.prune:
            gone = contents.prune(directory, most)
        held = contents.contents(directory)
    except CacheUnusable as fault:
        print(fault, file=sys.stderr)
        return 1
    if gone is not None:
        print(f"deleted   {gone.entries} programs, {size(gone.nbytes)}")
    print(f"folder    {printable(directory)}")
    print(f"programs  {held.entries}")
    print(f"size      {size(held.nbytes)} of at most {size(most)} (TRACEGRAD_CACHE_SIZE)")
    return 0


def size(nbytes: int) -> str:
    """``1.5 MiB``.

    >>> size(1536 * 1024), size(10)
    ('1.5 MiB', '10 B')
    """
    value, unit = float(nbytes), 0
    while value >= 1024 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{nbytes} B"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tracegrad cache",
        description="Show where compiled programs are kept, and how much there is. Programs that are deleted are "
        "compiled again when they are needed.",
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--prune", action="store_true", help="delete what was not used for longest, down to the bound")
    either.add_argument("--clear", action="store_true", help="delete all programs that are not in use")
    return parser
