"""What $CC may hold: a compiler, perhaps behind a launcher, and arguments that are known to keep the eager result.

The compiler's name may be followed by any of these, quoted as in a shell:

* where things are: `-I`, `-isystem`, `-idirafter`, `-iquote`, `-L`, `-B`, `--sysroot`, `-isysroot`, `--gcc-toolchain`,
  `-resource-dir`, with their folder in the same word or in the next one;
* for which machine: `-m64`, `-march=`, `-mtune=`, `-mcpu=`, `--target=`, `-target`, `-arch`;
* how the code is generated, where that keeps each number: `-O0` to `-O3`, `-fPIC`, `-g`, `-pipe`, `-fwrapv`,
  stack protection and the like, and whatever the units of a program may be compiled with;
* warnings (`-Wall`; nothing that goes to the assembler or the linker: `-Wa,`, `-Wl,`), `-fuse-ld=`;
* `-DNDEBUG`, `-D_GNU_SOURCE`, `-D_DEFAULT_SOURCE`, `-D_REENTRANT`, `-D_FORTIFY_SOURCE=`; no other macro, since the C
  may use its name.

Anything else is refused: `-ffast-math` and its parts change results, and linked in, they switch the whole process to
flushing small numbers to zero; a file of arguments (`@file`, `-specs=`, `--config=`) may hold them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil

from .errors import ToolchainMissing, three_parts
from .processes import search_path

LAUNCHERS = frozenset(("ccache", "sccache", "distcc", "icecc", "buildcache"))

# Options with a folder or a machine behind them, in the next word or in the same one.
_IN_NEXT_WORD = frozenset(
    "-I -isystem -idirafter -iquote -L -B --sysroot -isysroot --gcc-toolchain -resource-dir "
    "-target --target -arch".split()
)
_IN_SAME_WORD = re.compile(
    r"-I.+|-isystem.+|-idirafter.+|-iquote.+|-L.+|-B.+|--sysroot=.+|-isysroot.+|--gcc-toolchain=.+|-resource-dir=.+"
    r"|-m(arch|tune|cpu)=[\w.+-]+|--target=[\w.+-]+|-mmacosx-version-min=[\d.]+|-fuse-ld=\w+"
    r"|-W(no-)?[a-z][\w+-]*(=[\w-]+)?|-W|-f(debug|file|macro)-prefix-map=.+"
    r"|-D_FORTIFY_SOURCE=[0-3]|-D(NDEBUG|_GNU_SOURCE|_DEFAULT_SOURCE|_REENTRANT)(=1)?"
)
_ALONE = frozenset(
    "-m64 -pipe -O -O0 -O1 -O2 -O3 -Os -Og -g -g0 -g1 -g2 -g3 -ggdb -fPIC -fpic -fPIE -fpie -pthread -fwrapv "
    "-std=c17 -std=gnu17 -fno-plt -fno-common -fno-strict-aliasing -fno-semantic-interposition -fno-omit-frame-pointer "
    "-fstack-protector -fstack-protector-strong -fstack-protector-all -fstack-clash-protection -fcf-protection "
    "-fdiagnostics-color -fdiagnostics-color=always -fdiagnostics-color=auto -fdiagnostics-color=never "
    "-fno-math-errno -fno-trapping-math -ffp-contract=off -fno-fast-math -fopenmp-simd -fvisibility=hidden "
    "-march=native -w -pedantic -static-libgcc -Qunused-arguments -no-canonical-prefixes".split()
)
_CORRECT = "correct CC, or unset it so that gcc, clang or cc is used"


def named_command(named: str) -> tuple[str, ...]:
    """The command that $CC stands for, with the full path of its first word. ToolchainMissing if it is not allowed."""
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise wrong_name(f"CC cannot be read: {error}", f"CC={named}") from error
    if not words:
        raise wrong_name("CC names no compiler", f"CC={named}")
    head = _length_of_name(words, named)
    _check_arguments(words[head:], named)
    return (_found(words[0]), *words[1:])


def wrong_name(what: str, where: str, remedy: str = _CORRECT) -> ToolchainMissing:
    """The error for a $CC that cannot be used."""
    return ToolchainMissing(three_parts(what, where, remedy))


def which(name: str) -> str | None:
    """The full path of a program in an absolute folder of PATH."""
    if os.path.dirname(name):
        name = os.path.abspath(name)
    return shutil.which(name, path=os.pathsep.join(search_path()))


def _found(name: str) -> str:
    path = which(name)
    if path is None:
        raise wrong_name(f"the compiler that CC names does not exist: {name!r}", "not an executable file, nor in PATH")
    return path


def _length_of_name(words: list[str], named: str) -> int:
    """How many words name the compiler: `gcc`, `ccache gcc`, `zig cc`, `python -m ziglang cc`."""
    head = 1 if _base(words[0]) in LAUNCHERS else 0
    if head == len(words):
        raise wrong_name("CC names a launcher and no compiler", f"CC={named}", "put the compiler behind it: ccache gcc")
    if head:
        _found(words[head])
    if words[head + 1 : head + 2] == ["cc"] and _base(words[head]).startswith("zig"):
        return head + 2
    if words[head + 1 : head + 4] == ["-m", "ziglang", "cc"] and _base(words[head]).startswith("python"):
        return head + 4
    return head + 1


def _base(path: str) -> str:
    return os.path.basename(path)


def _check_arguments(arguments: list[str], named: str) -> None:
    rest = iter(arguments)
    for argument in rest:
        if argument in _IN_NEXT_WORD:
            value = next(rest, "")
            if value and value[0] not in "-@":
                continue
        if argument in _ALONE or (argument not in _IN_NEXT_WORD and _IN_SAME_WORD.fullmatch(argument)):
            continue
        what = f"CC holds the argument {argument!r}, which is not known to keep the results of eager mode"
        remedy = (
            "take it out of CC; allowed are a launcher (ccache gcc), search folders (-I, -L, -B, --sysroot=), the "
            "machine (-m64, -march=, --target=), -O0 to -O3, -g, -fPIC, warnings, and what runtime/named.py lists"
        )
        raise wrong_name(what, f"CC={named}", remedy)
