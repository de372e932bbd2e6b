"""``python -m tracegrad run``: a PyTorch program, as it is."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import gc
import itertools
import os
import sys

from ..compiled import deferred
from ..compiled.experience import remembered
from ..runtime.pages import keep_freed
from ..shim import install
from . import children, program

_EVERY = 10  # steps: what --verify without a number compares

_DESCRIPTION = """Run a program that imports torch, with tracegrad under that name.

Options of this command come before the program; what follows it are the program's own arguments."""


def main(arguments: list[str]) -> int:
    """Run the program; the exit code. What the program raises passes through, as under Python itself."""
    options = _parser().parse_args(_with_numbers(arguments))
    if not options.program:
        _parser().error("there is no program: give prog.py, -m MODULE or notebook.ipynb")
    install()
    keep_freed()
    children.follow()
    gc.freeze()  # what is imported so far is there until the end: collections need not look through it
    with contextlib.ExitStack() as stack:
        if options.compile or options.verify:
            block = _block(options)
            stack.enter_context(remembered(block, options.program))
            stack.enter_context(block)
        program.run(options.program[0], options.program[1:], options.module)
    return 0


def _block(options: argparse.Namespace) -> deferred:
    """What the program runs in."""
    if options.verify:
        os.environ["TRACEGRAD_VERIFY"] = "1"  # for what the program compiles itself
    # What is compared is C with numpy: the sooner there is C, the more.
    block = deferred(verify=options.verify, tiered=not options.verify)
    if options.verify:
        atexit.register(lambda: print(f"tracegrad: {block.report}", file=sys.stderr))
    return block


def _with_numbers(arguments: list[str]) -> list[str]:
    """The arguments with the number that ``--verify`` alone means; what follows the program is the program's."""
    own = list(itertools.takewhile(lambda word: word.startswith("-"), arguments))
    return [f"--verify={_EVERY}" if word == "--verify" else word for word in own] + arguments[len(own) :]


def _steps(text: str) -> int:
    steps = int(text)
    if steps < 1:
        raise argparse.ArgumentTypeError(f"a number of steps from 1 on, got {text}")
    return steps


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tracegrad run",
        usage="%(prog)s [--compile] [--verify[=N]] (prog.py | -m MODULE | notebook.ipynb) [arguments ...]",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--compile", action="store_true", help="compile what the program computes (tracegrad.deferred)")
    verify = "as --compile, and every Nth step is computed by numpy as well, and compared: an error where they differ"
    parser.add_argument("--verify", type=_steps, default=0, metavar="N", help=verify)
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, as of `python -m`")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser
