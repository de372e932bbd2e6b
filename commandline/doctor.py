"""``python -m tracegrad doctor``: whether programs can be compiled on this machine, and what to do if they cannot."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import compiled
from ..compiler.pipeline import FLAGS
from ..runtime.build import Unit, build
from ..runtime.cache import default_directory, open_directory, workspace_in
from ..runtime.contents import contents
from ..runtime.errors import CacheUnusable, CompileFailed, RuntimeFault, ToolchainMissing, printable
from ..runtime.eviction import bound
from ..runtime.num_threads import get_num_threads
from ..runtime.program import load
from ..runtime.toolchain import require_compiler
from ..tape.anomaly import CHECKS_ALL
from ..tensors.creation import tensor
from .cache import size

OLDEST = (3, 10)
PACKAGES = ("numpy", "cffi", "jinja2", "ml_dtypes")
VARIABLES = {
    "TRACEGRAD_CACHE_DIR": "the folder of compiled programs",
    "TRACEGRAD_CACHE_SIZE": "the most that it holds",
    "TRACEGRAD_CHECK_NAN": "errors at the first NaN or infinity; nothing is compiled",
    "TRACEGRAD_COMPILE_SECONDS": "how long the C compiler may take",
    "TRACEGRAD_DUMP": "a folder for what the compiler makes",
    "TRACEGRAD_FULL_TRACEBACK": "tracebacks with the library's own frames",
    "TRACEGRAD_NUM_THREADS": "threads of compiled programs",
    "TRACEGRAD_VERIFY": "each first replay is compared with eager mode",
    "TRACEGRAD_WARM_UP": "0: run --compile does not begin in eager mode",
    "TRACEGRAD_AS_TORCH": "set for child processes by `python -m tracegrad run`",
}
_BLAS_THREADS = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OMP_NUM_THREADS",
)
#: A program that needs the C library's headers, and calls a function of it.
TRIAL = """#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tg_math.h"
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);
int tracegrad_step(void *const *slots) { return slots == 0 && sqrt((double)(uintptr_t)slots) != 0.0; }
"""


@dataclass(frozen=True)
class Finding:
    """One line of the report. `remedy` is what to do; without it all is well, or it is only said."""

    title: str
    text: str
    remedy: str = ""
    is_fault: bool = False


def main(arguments: list[str]) -> int:
    """Print what was found; 1 if programs cannot be compiled here."""
    argparse.ArgumentParser(
        prog="python -m tracegrad doctor",
        description="Compile and run a small program, and look at everything that this depends on.",
    ).parse_args(arguments)
    found = [finding for look in CHECKS for finding in look()]
    for finding in found:
        print(_shown(finding))
    faults = sum(finding.is_fault for finding in found)
    print(f"\n{faults} faults: eager mode works, compiled functions run eagerly" if faults else "\nall is well")
    return 1 if faults else 0


def _shown(finding: Finding) -> str:
    mark = "FAULT" if finding.is_fault else "note " if finding.remedy else "ok   "
    lines = [*finding.text.splitlines(), *([f"-> {finding.remedy}"] if finding.remedy else [])]
    indent = "\n" + " " * 19
    return f"{mark} {finding.title:12} {indent.join(line.strip() for line in lines)}"


def versions() -> Iterator[Finding]:
    """Python, this library, and those that it needs."""
    python = platform.python_version()
    if sys.version_info[:2] < OLDEST:
        yield Finding("Python", python, f"use Python {'.'.join(map(str, OLDEST))} or later", True)
    else:
        yield Finding("Python", f"{python} on {platform.system()} {platform.machine()}")
    for name in PACKAGES:
        try:
            yield Finding(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "is not installed", f"pip install {name}", True)


def compiler() -> Iterator[Finding]:
    """The C compiler, and a program that it makes with the flags that all programs are compiled with."""
    try:
        found = require_compiler()
    except ToolchainMissing as fault:
        yield _fault("compiler", fault)
        return
    yield Finding("compiler", f"{found.kind} {found.version}: {' '.join(found.command)}")
    try:
        with tempfile.TemporaryDirectory(prefix="tracegrad-doctor-") as folder:
            os.chmod(folder, 0o700)
            built = build([Unit("trial", TRIAL, FLAGS)], compiler=found, cache_dir=folder, load=load)
    except CompileFailed as fault:
        yield _refused(fault, found)
    except RuntimeFault as fault:
        yield _fault("compiling", fault)
    else:
        yield Finding("compiling", f"a program was compiled and loaded in {built.seconds:.2f} s ({' '.join(FLAGS)})")


def _refused(fault: CompileFailed, found: Any) -> Finding:
    """Which part is missing: the C library's headers, or a flag that the compiler does not know."""
    if "fatal error" in str(fault) and ".h" in str(fault):
        remedy = "install the C library's headers (libc6-dev, glibc-devel, musl-dev, or Apple's command line tools)"
        return Finding("headers", str(fault), remedy, True)
    refused = [flag for flag in FLAGS if not _is_known(flag, found)]
    if refused:
        return Finding("flags", f"refused: {' '.join(refused)}\n{fault}", "set CC to a newer gcc or clang", True)
    return _fault("compiling", fault)


def _is_known(flag: str, found: Any) -> bool:
    """Whether the compiler takes a flag by itself."""
    text = "int tracegrad_step(void *const *slots);\nint tracegrad_step(void *const *slots) { return slots == 0; }\n"
    try:
        with tempfile.TemporaryDirectory(prefix="tracegrad-doctor-") as folder:
            build([Unit("flag", text, (flag,))], compiler=found, cache_dir=folder)
    except RuntimeFault:
        return False
    return True


def cache() -> Iterator[Finding]:
    """The folder of compiled programs: whose it is, whether it can be written, and how much is in it."""
    directory = default_directory()
    try:
        with open_directory(directory) as root, workspace_in(root):
            held = contents(directory)
        text = f"{printable(directory)}: {held.entries} programs, {size(held.nbytes)} of at most {size(bound())}"
        yield Finding("cache", text)
    except CacheUnusable as fault:
        what, *rest = str(fault).splitlines()
        yield Finding("cache", f"{what}\nprograms are compiled anew by each process", rest[-1].strip() if rest else "")


def whole() -> Iterator[Finding]:
    """A function that is compiled as a program's are."""
    if CHECKS_ALL:
        yield Finding("tg.compile", "functions run eagerly", "unset TRACEGRAD_CHECK_NAN to have them compiled")
        return
    step = compiled.compile(lambda x: (x * 2 + 1).sum())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = [float(step(tensor([1.0, 2.0, float(i)]))) for i in range(4)]
    expected = [8.0 + 2 * i + 1 for i in range(4)]
    if results != expected:
        yield Finding("tg.compile", f"gives {results}, not {expected}", "report this with the output above", True)
    elif step.way != "replay":
        texts = [step.explain(), *(str(warning.message) for warning in said)]
        yield Finding("tg.compile", f"functions run as they are ({step.way})\n{texts[-1]}", "see above", True)
    else:
        yield Finding("tg.compile", "a compiled function gives the eager result")


def threads() -> Iterator[Finding]:
    """Threads of compiled programs, and of numpy's matrix products."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("threads", f"compiled programs use {get_num_threads()} of {cpus} CPUs (TRACEGRAD_NUM_THREADS)")
    blas = _blas()
    limits = [f"{name}={os.environ[name]}" for name in _BLAS_THREADS if name in os.environ]
    if limits or cpus == 1:
        yield Finding("numpy's BLAS", f"{blas}; {', '.join(limits) or 'one CPU'}")
    else:
        remedy = "set OMP_NUM_THREADS=1 if several processes train at a time, or to compare times"
        yield Finding("numpy's BLAS", f"{blas}; as many threads as CPUs in eager mode", remedy)


def _blas() -> str:
    try:
        found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found.get('version', '')}".strip()
    except (TypeError, KeyError):  # numpy before 1.26
        return "of unknown make"


def variables() -> Iterator[Finding]:
    """Variables of the environment that this library reads, and such as look like one of them."""
    for name in sorted(name for name in os.environ if name.startswith("TRACEGRAD_")):
        if name in VARIABLES:
            yield Finding("variable", f"{name}={printable(os.environ[name])}: {VARIABLES[name]}")
        else:
            yield Finding("variable", f"{name} means nothing", f"it is one of {', '.join(sorted(VARIABLES))}")


def _fault(title: str, fault: RuntimeFault) -> Finding:
    *text, remedy = str(fault).splitlines()
    return Finding(title, "\n".join(text), remedy.strip(), True)


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (versions, compiler, cache, whole, threads, variables)
