"""``python -m tracegrad COMMAND``: each command is a module of this folder, listed here by its name."""

from __future__ import annotations

import importlib
import sys

#: Commands, and what the list of them says. A module ``commandline/NAME.py`` has ``main(arguments) -> exit code``.
COMMANDS = {
    "run": "run a PyTorch program as it is: prog.py, -m module, or notebook.ipynb",
    "doctor": "find out whether functions can be compiled here, and what to do if not",
    "cache": "show where compiled programs are kept and how much there is; --prune, --clear",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command with its arguments; the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0
    if words[0] not in COMMANDS:
        print(f"python -m tracegrad: there is no command {words[0]!r}.\n\n{_usage()}", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"{__name__}.{words[0]}").main(words[1:]))


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(["usage: python -m tracegrad COMMAND ...", "", "commands:", *lines])
