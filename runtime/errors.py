"""What the runtime raises, each message in three parts: what was wrong, where, what to do."""

import os


class RuntimeFault(RuntimeError):
    """Base of everything that can go wrong between rendered C and a loaded program."""


class ToolchainMissing(RuntimeFault):
    """There is no working C compiler, or cffi is not installed. Eager mode is not affected."""


class CompileFailed(RuntimeFault):
    """The C compiler refused a unit, did not end, or wrote no library. The message holds its command and its words."""


class CacheUnusable(RuntimeFault):
    """The cache directory cannot be written, or others could write into it."""


class LoadFailed(RuntimeFault):
    """A shared library could not be loaded, or is not one of ours."""


def three_parts(what: str, where: str, remedy: str) -> str:
    """One message: the fault on the first line, then where it is, then what to do about it.

    >>> print(three_parts("no C compiler", "looked in PATH", "install gcc"))
    no C compiler
      looked in PATH
      install gcc
    """
    indented = [line.replace("\n", "\n  ") for line in (where, remedy)]
    return "\n  ".join([what, *indented])


def printable(path: str | os.PathLike[str]) -> str:
    r"""A path as text that every stream can print: bytes that are not UTF-8 are escaped.

    >>> printable("cache" + chr(0xDCFF))
    'cache\\xff'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")
