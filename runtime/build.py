"""C units in, one shared library out: from the cache, or compiled in parallel and linked."""

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import cache
from .errors import CompileFailed, three_parts
from .toolchain import Compiler, check_flags, require_compiler, run

INCLUDE = Path(__file__).with_name("include")
LINK_ONLY = ("-shared", "-lm")
LIBRARY = "program.so"
REPORTED_LINES = 40  # of the compiler's words; the first ones tell


@dataclass(frozen=True)
class Unit:
    """One C file: `name` (which becomes `name.c`), its text, and the flags that it is compiled with."""

    name: str
    source: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """A shared library that is ready to load, its C, whether it was there already, and how long it took."""

    path: Path
    sources: tuple[Path, ...]
    from_cache: bool
    seconds: float


def build(
    units: Sequence[Unit],
    headers: Mapping[str, str] | None = None,
    compiler: Compiler | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Built:
    """Compile `units` into one shared library, or find it in the cache.

    A unit may include every header of `runtime/include` and those in `headers` (file name to text). The C and its
    headers are kept beside the library, so that the folder compiles by itself. Raises ToolchainMissing, CompileFailed,
    CacheUnusable, or ValueError for a flag or a file name that is not allowed.

    >>> built = build([Unit("step", "int tracegrad_step(void *const *slots) { return slots == 0; }", ("-O2",))])
    >>> built.sources[0].name
    'step.c'
    """
    start = time.perf_counter()
    headers = _all_headers(headers or {})
    _check(units, headers)
    compiler = compiler or require_compiler()
    directory = cache.open_directory(Path(cache_dir).absolute() if cache_dir else cache.default_directory())
    folder = directory / _key(units, headers, compiler)
    entry = cache.find(folder)
    from_cache = entry is not None
    if entry is None:
        with cache.workspace_in(directory) as workspace:
            sources = _write_sources(folder, units, headers, workspace)
            library = _compile(compiler, units, sources, workspace)
            entry = cache.publish(folder, library, sources, workspace)
    return Built(entry.library, entry.sources, from_cache, time.perf_counter() - start)


def _all_headers(own: Mapping[str, str]) -> dict[str, str]:
    shared = {path.name: path.read_text(encoding="utf-8") for path in sorted(INCLUDE.glob("*.h"))}
    for name in own:
        if name in shared:
            remedy = "give it another name"
            raise ValueError(three_parts(f"header {name!r} exists already", f"in {INCLUDE}", remedy))
    return shared | dict(own)


def _check(units: Sequence[Unit], headers: Iterable[str]) -> None:
    names = [f"{unit.name}.c" for unit in units]
    for name in (*names, *headers):
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.[ch]", name):
            remedy = "use letters, digits, '_', '.' and '-' only, and begin with none of the last two"
            raise ValueError(three_parts(f"not a file name for C: {name!r}", "in the units of a program", remedy))
    if not names or len(set(names)) != len(names):
        what = f"a program needs at least one unit, and different names: got {names}"
        raise ValueError(three_parts(what, "in the units of a program", "name each unit once"))
    for unit in units:
        check_flags(unit.flags)


def _key(units: Sequence[Unit], headers: Mapping[str, str], compiler: Compiler) -> str:
    parts = {f"header {name}": text for name, text in headers.items()}
    for index, unit in enumerate(units):
        parts[f"unit {index} {unit.name} {' '.join(unit.flags)}"] = unit.source
    parts |= {"compiler": compiler.identity, "instruction set": compiler.instruction_set}
    return cache.hash_of(parts)


def _write_sources(
    folder: Path, units: Sequence[Unit], headers: Mapping[str, str], workspace: Path
) -> tuple[Path, ...]:
    """Write the C where it stays (a failing compile and a debugger then name files that exist); the units' paths."""
    with cache.reported_as_unusable(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in headers.items():
        cache.write(folder / name, text, workspace)
    for unit in units:
        cache.write(folder / f"{unit.name}.c", unit.source, workspace)
    return tuple(folder / f"{unit.name}.c" for unit in units)


def _compile(compiler: Compiler, units: Sequence[Unit], sources: tuple[Path, ...], workspace: Path) -> Path:
    """One compiler process for a program of one unit; else one per unit, as many at once as CPUs, and a link."""
    if len(units) == 1:
        _run(compiler, [*_compile_flags(units[0]), *_link_flags(units)], [str(sources[0])], LIBRARY, workspace)
        return workspace / LIBRARY
    objects = [f"{unit.name}.o" for unit in units]
    with ThreadPoolExecutor(min(len(units), _cpu_count())) as pool:
        jobs = [
            pool.submit(_run, compiler, ["-c", *_compile_flags(unit)], [str(source)], target, workspace)
            for unit, source, target in zip(units, sources, objects, strict=True)
        ]
        for job in jobs:
            job.result()
    _run(compiler, _link_flags(units), objects, LIBRARY, workspace)
    return workspace / LIBRARY


def _compile_flags(unit: Unit) -> list[str]:
    return ["-fPIC", *(flag for flag in unit.flags if flag not in LINK_ONLY)]


def _link_flags(units: Sequence[Unit]) -> list[str]:
    """Only what a linker understands: clang warns of the rest, which -Werror would make an error."""
    wanted = {flag for unit in units for flag in unit.flags}
    return ["-shared", *(flag for flag in ("-pthread", "-fsanitize=address,undefined", "-lm") if flag in wanted)]


def _run(compiler: Compiler, flags: Sequence[str], inputs: Sequence[str], output: str, workspace: Path) -> None:
    # The output is a bare name in the workspace, so that the command that is shown can be run again from anywhere.
    libraries = [flag for flag in flags if flag == "-lm"]  # a library has to follow what uses it
    options = [flag for flag in flags if flag != "-lm"]
    command = [*compiler.command, *options, *inputs, "-o", output, *libraries]
    result = run(command, workspace)
    if result.returncode:
        raise CompileFailed(_failure(compiler, command, result.returncode, result.stderr, inputs))


def _failure(compiler: Compiler, command: Sequence[str], status: int, words: str, inputs: Sequence[str]) -> str:
    name = ", ".join(Path(path).name for path in inputs)
    ending = f"exit status {status}" if status > 0 else f"killed by {signal.Signals(-status).name}, out of memory?"
    lines = words.strip().splitlines()
    if len(lines) > REPORTED_LINES:
        lines = [*lines[:REPORTED_LINES], f"... ({len(lines) - REPORTED_LINES} more lines)"]
    return three_parts(
        f"the C compiler ({compiler.kind} {compiler.version}) refused {name}: {ending}",
        "\n".join([f"source kept in {inputs[0]}", f"command: {shlex.join(command)}", *lines]),
        "run the command to see it again; if this C was generated, please report it with the source",
    )


def _cpu_count() -> int:
    """The CPUs that this process may use, which in a container are fewer than the machine has."""
    return os.cpu_count() or 1 if sys.platform == "darwin" else len(os.sched_getaffinity(0))
