"""Which C compiler there is, what `-march=native` means for it, and which flags it may be given."""

import hashlib
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from .errors import CompileFailed, RuntimeFault, ToolchainMissing, three_parts
from .named import named_command, which, wrong_name
from .processes import HOW_TO_GET_ONE, PROBE_SECONDS, run, shown

# fmt: off
ALLOWED_FLAGS = frozenset((
    "-std=c17", "-std=gnu17", "-O0", "-O1", "-O2", "-O3", "-march=native", "-fopenmp-simd", "-fpeel-loops",
    # None of these assumes away NaN, infinities or signed zeros.
    "-ffp-contract=off", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
    "-fwrapv", "-mprefer-vector-width=512", "-mno-red-zone",
    "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-lm",
    "-Wall", "-Wextra", "-Wshadow", "-Wno-pass-failed", "-Wno-stringop-overflow",
    "-Wno-array-bounds", "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Werror",
    "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer",
))
# fmt: on

# Variables that change what the compiler finds, and therefore what it makes: part of its identity.
SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SDKROOT")


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
    """The first that works of $CC (with arguments: see `named`), gcc, clang, cc, the `ziglang` wheel; None without any.

    Raises ToolchainMissing when $CC is set and does not work: another compiler than the named one is never taken. The
    answer is kept for the process, until one of the variables that it depends on changes.
    """
    found = _find_compiler(tuple(os.environ.get(name) for name in ("CC", "PATH", *SEARCH_VARIABLES)))
    if isinstance(found, RuntimeFault):
        raise type(found)(*found.args)
    return found


def require_compiler() -> Compiler:
    """Like `find_compiler`, but ToolchainMissing when there is none."""
    compiler = find_compiler()
    if compiler is None:
        where = f"looked for $CC, gcc, clang and cc in PATH={os.environ.get('PATH', '')!r}, and for the ziglang wheel"
        raise ToolchainMissing(three_parts("no C compiler was found", where, HOW_TO_GET_ONE))
    return compiler


@lru_cache(maxsize=8)
def _find_compiler(variables: tuple[str | None, ...]) -> Compiler | RuntimeFault | None:
    """An error is an answer that is kept, too: a compiler that hangs is waited for once."""
    named = variables[0]
    if named and named.strip():
        try:
            return _probed(named_command(named))
        except RuntimeFault as fault:
            return fault
    for command in _usual_commands():
        with suppress(RuntimeFault):
            return _probed(command)
    return None


def _probed(command: tuple[str, ...]) -> Compiler:
    """The compiler behind a command; ToolchainMissing if it does not work, hangs, or changes what numbers mean."""
    probe = [*command, *_PROBE]
    try:
        result = run(probe, seconds=PROBE_SECONDS)
    except CompileFailed as hanging:
        reason = str(hanging).partition("\n")[0]
        raise wrong_name(f"the compiler that CC names does not work: {reason}", shown(probe)) from hanging
    if result.returncode:
        what = f"the compiler that CC names does not work: exit status {result.returncode}"
        raise wrong_name(what, f"{shown(probe)}\n{result.stderr.strip()}")
    found = _UNSAFE_MACROS.search(result.stdout)
    if found:
        what = f"the compiler that CC names changes results: it defines {found[1]}, as -ffast-math does"
        remedy = "take the flag out of the wrapper or configuration file, or set CC to another compiler"
        raise wrong_name(what, shown(probe), remedy)
    return _describe(command, result.stdout)


def _usual_commands() -> Iterator[tuple[str, ...]]:
    for name in ("gcc", "clang", "cc"):
        path = which(name)
        if path is not None:
            yield (path,)
    # The wheel's own program rather than `python -m ziglang`, which only starts it: one Python start less per unit.
    wheel = importlib.util.find_spec("ziglang")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        path = which(os.path.join(folder, "zig"))
        if path is not None:
            yield (path, "cc")


# Whoever brings it (a wrapper script, clang's configuration file, a spec file): what it defines shows it.
_UNSAFE_MACROS = re.compile(
    r"^#define (__FAST_MATH__|__FINITE_MATH_ONLY__ 1|__ASSOCIATIVE_MATH__|__RECIPROCAL_MATH__|__NO_SIGNED_ZEROS__"
    r"|__ROUNDING_MATH__)\b",
    re.MULTILINE,
)

# All that has to be known, in one process of about 10 ms: the version, the kind, and what "native" means here.
_PROBE = ("-march=native", "-E", "-dM", "-x", "c", os.devnull)


def _describe(command: tuple[str, ...], macros: str) -> Compiler:
    found = re.search(r'^#define __VERSION__ "(?:Clang )?(.*)"$', macros, re.MULTILINE)
    version = found[1] if found else "of unknown version"
    programs = [fact for word in command for fact in _program_facts(word)]  # a launcher, and what it starts
    searched = [f"{name}={os.environ.get(name)}" for name in SEARCH_VARIABLES]
    facts = [*command, *programs, version, *searched]
    return Compiler(
        command=command,
        kind="clang" if "#define __clang__ 1" in macros else "gcc",
        version=version,
        identity=_hash("\0".join(facts)),
        instruction_set=_hash(macros),
    )


def _program_facts(word: str) -> list[str]:
    path = None if word.startswith("-") else which(word)
    if path is None:
        return []
    real_path = os.path.realpath(path)
    status = os.stat(real_path)
    return [real_path, str(status.st_size), str(status.st_mtime_ns)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
