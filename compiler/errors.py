"""What can go wrong in the compiler, one class a stage. Each message says what, where (the user's line), what to do."""

from __future__ import annotations


class CompilerError(RuntimeError):
    """Base of all errors of ``tracegrad.compile``."""


class CaptureError(CompilerError):
    """The function does something that cannot be recorded; the message names the line and what to write instead."""


class MemoryLimitError(CompilerError):
    """The program needs more memory between its kernels than ``memory_limit`` allows; the call has changed nothing."""
