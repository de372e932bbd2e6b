"""What can go wrong in the compiler, one class a stage. Each message says what, where (the user's line), what to do."""

from __future__ import annotations


class CompilerError(RuntimeError):
    """Base of all errors of ``tracegrad.compile``."""


class CaptureError(CompilerError):
    """The function does something that cannot be recorded; the message names the line and what to write instead."""


class MemoryLimitError(CompilerError):
    """The program needs more memory between its kernels than ``memory_limit`` allows; the call has changed nothing.

    `least` is a limit, in bytes, that it would be within.
    """

    def __init__(self, message: str, least: int) -> None:
        super().__init__(message)
        self.least = least

    def __reduce__(self) -> tuple[type[MemoryLimitError], tuple[str, int]]:
        return type(self), (str(self), self.least)
