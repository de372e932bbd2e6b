"""C units in, one shared library out: from the cache, or compiled in parallel and linked."""

import errno
import functools
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from . import cache
from .errors import CompileFailed, LoadFailed, printable, three_parts
from .eviction import note_built
from .files import Folder
from .libraries import fault_of_library
from .processes import run, run_all, shown
from .toolchain import Compiler, check_flags, require_compiler

Load = Callable[[Path, str], Any]

INCLUDE = Path(__file__).with_name("include")
LINK_ONLY = ("-shared", "-lm")
LIBRARIES = ("-lm", "-lgcc")
LIBRARY = "program.so"
REPORTED_LINES = 40  # of the compiler's words; the first ones tell

_SMALLEST_DISK = 1 << 16  # bytes: with less, a compiler fails for that
_OUT_OF_MEMORY = re.compile("Killed signal|out of memory|memory exhausted|Cannot allocate memory|bad_alloc")


@dataclass(frozen=True)
class Unit:
    """One C file: `name` (which becomes `name.c`), its text, and the flags that it is compiled with."""

    name: str
    source: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """A shared library, its C, whether it was there already, how long it took, and what `load` made of it."""

    path: Path
    sources: tuple[Path, ...]
    from_cache: bool
    seconds: float
    program: Any = None


def build(
    units: Sequence[Unit],
    headers: Mapping[str, str] | None = None,
    compiler: Compiler | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    load: Load | None = None,
    cache_bytes: int | None = None,
) -> Built:
    """Compile `units` into one shared library, or find it in the cache.

    A unit may include every header of `runtime/include` and those in `headers` (file name to text). The C and its
    headers are kept beside the library, so that the folder compiles by itself. What `load` (a function of the library's
    path, and of another path to the same file) makes of the library is `Built.program`; a library that does not load is
    no entry of the cache, even if loading it ends the process. With `cache_bytes` the cache is kept below some bound
    (see `eviction`). Raises ToolchainMissing, CompileFailed, CacheUnusable,
    LoadFailed, or ValueError for a flag or a file name that is not allowed.

    >>> built = build([Unit("step", "int tracegrad_step(void *const *slots) { return slots == 0; }", ("-O2",))])
    >>> built.sources[0].name
    'step.c'
    """
    start = time.perf_counter()
    headers = _all_headers(headers or {})
    _check(units, headers)
    compiler = compiler or require_compiler()
    wanted = _program(units, headers, compiler)
    directory = cache.absolute(cache_dir) if cache_dir else cache.default_directory()
    with cache.open_directory(directory) as root:
        built = _found(root, wanted, load) or _made(root, wanted, units, compiler, load)
        if cache_bytes is not None and not built.from_cache:
            note_built(root, wanted.key, built.path.stat().st_size, cache_bytes)
    return replace(built, seconds=time.perf_counter() - start)


def _found(root: Folder, wanted: cache.Program, load: Load | None) -> Built | None:
    """The program from the cache; an entry that does not load is none from now on."""
    with cache.found(root, wanted) as entry:
        if entry is None:
            return None
        folder, library = entry
        try:
            return _loaded(folder, library, wanted, load, from_cache=True)
        except LoadFailed:
            with cache.reported_as_unusable(folder.path):
                cache.withdraw(folder)
            return None


def _made(root: Folder, wanted: cache.Program, units: Sequence[Unit], compiler: Compiler, load: Load | None) -> Built:
    with cache.workspace_in(root) as workspace, cache.begun(root, wanted, workspace) as folder:
        sources = [folder.path / name for name in wanted.sources]
        content = _compile(compiler, units, sources, workspace)
        digest = cache.hash_of_bytes(content)
        library = f"program-{digest}.so"
        folder.place(library, content, workspace)
        try:
            built = _loaded(folder, library, wanted, load, from_cache=False)
        except LoadFailed:
            folder.remove(library)
            raise
        cache.publish(folder, wanted, digest, len(content), workspace)
    return built


def _loaded(folder: Folder, library: str, wanted: cache.Program, load: Load | None, from_cache: bool) -> Built:
    path = folder.path / library
    program = None if load is None else load(path, folder.stands_at(library))
    return Built(path, tuple(folder.path / name for name in wanted.sources), from_cache, 0.0, program)


def _all_headers(own: Mapping[str, str]) -> dict[str, str]:
    shared = _headers_in(INCLUDE)
    for name in own:
        if name in shared:
            remedy = "give it another name"
            raise ValueError(three_parts(f"header {name!r} exists already", f"in {INCLUDE}", remedy))
    return shared | dict(own)


@functools.cache
def _headers_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h"))}


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


def _program(units: Sequence[Unit], headers: Mapping[str, str], compiler: Compiler) -> cache.Program:
    parts = {f"header {name}": text for name, text in headers.items()}
    for index, unit in enumerate(units):
        parts[f"unit {index} {unit.name} {' '.join(unit.flags)}"] = unit.source
    parts |= {"compiler": compiler.identity, "instruction set": compiler.instruction_set}
    return cache.Program(
        cache.hash_of(parts),
        {f"{unit.name}.c": unit.source.encode() for unit in units},
        {name: text.encode() for name, text in headers.items()},
    )


def _compile(compiler: Compiler, units: Sequence[Unit], sources: Sequence[Path], workspace: Folder) -> bytes:
    """The library. One compiler process for a program of one unit; else one per unit, as many at once as CPUs, and a
    link."""
    if len(units) == 1:
        flags = [*_compile_flags(units[0]), *_link_flags(units, compiler)]
        command = _run(compiler, flags, [str(sources[0])], LIBRARY, workspace)
        return _library_in(workspace, compiler, command, sources)
    objects = [f"{unit.name}.o" for unit in units]
    commands = [
        _command(compiler, ["-c", *_compile_flags(unit)], [str(source)], target)
        for unit, source, target in zip(units, sources, objects, strict=True)
    ]
    with closing(run_all(commands, _cpu_count(), workspace.path)) as results:
        for result, source in zip(results, sources, strict=True):
            _check_ended(compiler, result, [str(source)], workspace)
    command = _run(compiler, _link_flags(units, compiler), objects, LIBRARY, workspace)
    return _library_in(workspace, compiler, command, sources)


def _library_in(workspace: Folder, compiler: Compiler, command: Sequence[str], sources: Sequence[Path]) -> bytes:
    """What the compiler wrote, if it is a library. The workspace is private, whatever mode the file has."""
    try:
        content = workspace.read_any(LIBRARY)
        fault = fault_of_library(content)
    except OSError:
        fault = "nothing"
    if fault is not None:
        what = f"the C compiler ({compiler.kind} {compiler.version}) ended without an error and wrote {fault}"
        where = f"source kept in {printable(sources[0])}\ncommand: {shown(command)}"
        raise CompileFailed(three_parts(what, where, "set CC to a compiler that works"))
    return content


def _compile_flags(unit: Unit) -> list[str]:
    return ["-fPIC", *(flag for flag in unit.flags if flag not in LINK_ONLY)]


def _link_flags(units: Sequence[Unit], compiler: Compiler) -> list[str]:
    """Only what a linker understands: clang warns of the rest, which -Werror would make an error."""
    wanted = {flag for unit in units for flag in unit.flags}
    libraries = [flag for flag in ("-pthread", "-fsanitize=address,undefined", "-lm") if flag in wanted]
    if libraries or compiler.kind != "gcc" or sys.platform != "linux":
        return ["-shared", *libraries]
    # Memory is copied by the C library that the process has. To read it as well takes the linker longer than all else.
    return ["-shared", "-nodefaultlibs", "-lgcc"]


def _run(compiler: Compiler, flags: Sequence[str], inputs: Sequence[str], output: str, workspace: Folder) -> list[str]:
    """Run the compiler; the command."""
    command = _command(compiler, flags, inputs, output)
    _check_ended(compiler, run(command, workspace.path), inputs, workspace)
    return command


def _command(compiler: Compiler, flags: Sequence[str], inputs: Sequence[str], output: str) -> list[str]:
    # The output is a bare name in the workspace, so that the command that is shown can be run again from anywhere.
    libraries = [flag for flag in flags if flag in LIBRARIES]  # a library has to follow what uses it
    # What comes from elsewhere (a wrapper, a configuration file) is taken back, then our own flags say what may be.
    options = ["-fno-fast-math", *(flag for flag in flags if flag not in LIBRARIES)]
    return [*compiler.command, *options, *inputs, "-o", output, *libraries]


def _check_ended(compiler: Compiler, result: CompletedProcess[str], inputs: Sequence[str], workspace: Folder) -> None:
    """OSError or CompileFailed if the compiler has refused its `inputs`."""
    if result.returncode:
        if _is_full(workspace, result.stderr):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(workspace.path))
        raise CompileFailed(_failure(compiler, result.args, result.returncode, result.stderr, inputs))


def _is_full(workspace: Folder, words: str) -> bool:
    disk = os.fstatvfs(workspace.handle)
    return disk.f_bavail * disk.f_frsize < _SMALLEST_DISK or "No space left" in words or "quota exceeded" in words


def _failure(compiler: Compiler, command: Sequence[str], status: int, words: str, inputs: Sequence[str]) -> str:
    name = ", ".join(Path(path).name for path in inputs)
    lines = words.strip().splitlines()
    if len(lines) > REPORTED_LINES:
        lines = [*lines[:REPORTED_LINES], f"... ({len(lines) - REPORTED_LINES} more lines)"]
    remedy = "run the command to see it again; if this C was generated, please report it with the source"
    ending = _ending(status)
    if status < 0 or status > 128 or _OUT_OF_MEMORY.search(words):
        ending = f"{ending}, out of memory?"
        remedy = "make memory free (or raise the limit of this job), then start again"
    return three_parts(
        f"the C compiler ({compiler.kind} {compiler.version}) refused {name}: {ending}",
        "\n".join([f"source kept in {printable(inputs[0])}", f"command: {shown(command)}", *lines]),
        remedy,
    )


def _ending(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal has no name
        return f"killed by signal {-status}"


def _cpu_count() -> int:
    """The CPUs that this process may use, which in a container are fewer than the machine has."""
    return os.cpu_count() or 1 if sys.platform == "darwin" else len(os.sched_getaffinity(0))
