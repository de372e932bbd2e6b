"""Which C compiler there is, what `-march=native` means for it, and which flags it may be given."""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import ToolchainMissing, three_parts

# fmt: off
ALLOWED_FLAGS = frozenset((
    "-std=c17", "-std=gnu17", "-O0", "-O1", "-O2", "-O3", "-march=native", "-fopenmp-simd",
    # None of these assumes away NaN, infinities or signed zeros.
    "-ffp-contract=off", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
    "-fwrapv", "-mprefer-vector-width=512",
    "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-lm",
    "-Wall", "-Wextra", "-Wshadow", "-Wno-pass-failed", "-Werror",
    "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer",
))
# fmt: on

# Variables that change what the compiler finds, and therefore what it makes: part of its identity.
SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SDKROOT")

# These make the compiler write elsewhere, or load a library that was meant for Python (a preloaded sanitizer).
REMOVED_VARIABLES = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "LD_PRELOAD")

HOW_TO_GET_ONE = "install gcc or clang, or the compiler extra (pip install tracegrad[compiler]), or set CC"


@dataclass(frozen=True)
class Compiler:
    """A C compiler that works on this machine."""

    command: tuple[str, ...]  # the first word is an absolute path
    kind: str  # "gcc" or "clang"; zig's compiler is a clang
    version: str
    identity: str  # hash of real path, size, modification time, version, and what it searches
    instruction_set: str  # hash of the macros that -march=native defines on this processor


def check_flags(flags: Iterable[str]) -> None:
    """Raise ValueError for a flag that is not known to keep the eager result (`-ffast-math`) or the build private."""
    for flag in flags:
        if flag not in ALLOWED_FLAGS:
            allowed = " ".join(sorted(ALLOWED_FLAGS))
            raise ValueError(
                three_parts(
                    f"compiler flag {flag!r} is not allowed: it could change results or the rest of the process",
                    "in the flags of a C unit",
                    f"use one of: {allowed}",
                )
            )


def find_compiler() -> Compiler | None:
    """The first that works of $CC (which may hold arguments), gcc, clang, cc, the `ziglang` wheel; None without any.

    Raises ToolchainMissing when $CC is set and does not work: another compiler than the named one is never taken. The
    answer is kept for the process, until one of the variables that it depends on changes.
    """
    return _find_compiler(tuple(os.environ.get(name) for name in ("CC", "PATH", *SEARCH_VARIABLES)))


def require_compiler() -> Compiler:
    """Like `find_compiler`, but ToolchainMissing when there is none."""
    compiler = find_compiler()
    if compiler is None:
        where = f"looked for $CC, gcc, clang and cc in PATH={os.environ.get('PATH', '')!r}, and for the ziglang wheel"
        raise ToolchainMissing(three_parts("no C compiler was found", where, HOW_TO_GET_ONE))
    return compiler


def run(command: Sequence[str], folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a compiler without a shell, in `folder`, which also holds its temporary files."""
    try:
        return subprocess.run(
            command, cwd=folder, env=_environment(command[0], folder), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        where = f"while starting {shlex.join(command)}"
        raise ToolchainMissing(three_parts(f"the C compiler cannot be run: {error}", where, HOW_TO_GET_ONE)) from error


@lru_cache(maxsize=8)
def _find_compiler(variables: tuple[str | None, ...]) -> Compiler | None:
    named = variables[0]
    if named and named.strip():
        return _named_compiler(named)
    for command in _usual_commands():
        result = run([*command, *_PROBE])
        if result.returncode == 0:
            return _describe(command, result.stdout)
    return None


def _named_compiler(named: str) -> Compiler:
    try:
        name, *arguments = shlex.split(named)
    except ValueError as error:
        raise _wrong_name(f"CC cannot be read: {error}", f"CC={named}") from error
    path = _which(name)
    if path is None:
        raise _wrong_name(f"the compiler that CC names does not exist: {name!r}", "not an executable file, nor in PATH")
    command = (path, *arguments)
    result = run([*command, *_PROBE])
    if result.returncode:
        what = f"the compiler that CC names does not work: exit status {result.returncode}"
        raise _wrong_name(what, f"{shlex.join([*command, *_PROBE])}\n{result.stderr.strip()}")
    return _describe(command, result.stdout)


def _wrong_name(what: str, where: str) -> ToolchainMissing:
    return ToolchainMissing(three_parts(what, where, "correct CC, or unset it so that gcc, clang or cc is used"))


def _usual_commands() -> Iterator[tuple[str, ...]]:
    for name in ("gcc", "clang", "cc"):
        path = _which(name)
        if path is not None:
            yield (path,)
    # The wheel's own program rather than `python -m ziglang`, which only starts it: one Python start less per unit.
    wheel = importlib.util.find_spec("ziglang")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        path = _which(os.path.join(folder, "zig"))
        if path is not None:
            yield (path, "cc")


# All that has to be known, in one process of about 10 ms: the version, the kind, and what "native" means here.
_PROBE = ("-march=native", "-E", "-dM", "-x", "c", os.devnull)


def _describe(command: tuple[str, ...], macros: str) -> Compiler:
    found = re.search(r'^#define __VERSION__ "(?:Clang )?(.*)"$', macros, re.MULTILINE)
    version = found[1] if found else "of unknown version"
    real_path = os.path.realpath(command[0])
    status = os.stat(real_path)
    searched = [f"{name}={os.environ.get(name)}" for name in SEARCH_VARIABLES]
    facts = [*command, real_path, str(status.st_size), str(status.st_mtime_ns), version, *searched]
    return Compiler(
        command=command,
        kind="clang" if "#define __clang__ 1" in macros else "gcc",
        version=version,
        identity=_hash("\0".join(facts)),
        instruction_set=_hash(macros),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _search_path() -> list[str]:
    """The absolute folders of PATH: what lies in the current directory is never run."""
    return [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]


def _which(name: str) -> str | None:
    if os.path.dirname(name):
        name = os.path.abspath(name)
    return shutil.which(name, path=os.pathsep.join(_search_path()))


def _environment(executable: str, folder: Path | None) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in REMOVED_VARIABLES}
    # The assembler and the linker are also looked for beside the compiler and in the system's folders.
    folders = [*_search_path(), os.path.dirname(executable), *os.defpath.split(os.pathsep)]
    environment |= {"LC_ALL": "C", "PATH": os.pathsep.join(filter(os.path.isabs, folders))}
    return environment if folder is None else environment | {"TMPDIR": str(folder)}
