"""Running a compiler: without a shell, in an environment of its own, and not for ever."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import CompileFailed, ToolchainMissing, three_parts

COMPILE_SECONDS = 600.0
PROBE_SECONDS = 60.0

# These make the compiler write elsewhere or add flags of their own, or load a library that was meant for Python (a
# preloaded sanitizer).
REMOVED_VARIABLES = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "LD_PRELOAD", "CCC_OVERRIDE_OPTIONS")

HOW_TO_GET_ONE = "install gcc or clang, or the compiler extra (pip install tracegrad[compiler]), or set CC"


def run(
    command: Sequence[str], folder: Path | None = None, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler in `folder`, which also holds its temporary files.

    ToolchainMissing if it cannot be started; CompileFailed if it has not ended after `seconds` (else
    $TRACEGRAD_COMPILE_SECONDS, else 600). It is ended then with all processes that it has started.
    """
    (result,) = run_all([command], 1, folder, seconds)
    return result


def run_all(
    commands: Sequence[Sequence[str]], most: int, folder: Path | None = None, seconds: float | None = None
) -> Generator[subprocess.CompletedProcess[str], None, None]:
    """Run commands as `run` does, up to `most` of them at once; their results in order.

    There is no thread that waits: to the program, one would be somebody who looks on. Where one cannot be run, or the
    caller asks for no further results, all are ended.
    """
    seconds = seconds or _most_seconds()
    waiting, running = deque(commands), deque[subprocess.Popen[str]]()
    try:
        while waiting or running:
            while waiting and len(running) < most:
                running.append(_started(waiting.popleft(), folder))
            yield _finished(running[0], seconds)
            running.popleft()
    finally:
        for process in running:
            if process.returncode is None:
                _end(process)


def _started(command: Sequence[str], folder: Path | None) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command, cwd=folder, env=_environment(command[0], folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:  # ValueError: a zero byte
        where = f"while starting {shown(command)}"
        raise ToolchainMissing(three_parts(f"the C compiler cannot be run: {error}", where, HOW_TO_GET_ONE)) from error


def _finished(process: subprocess.Popen[str], seconds: float) -> subprocess.CompletedProcess[str]:
    command: Any = process.args
    try:
        output, words = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        remedy = "run the command by hand, or set TRACEGRAD_COMPILE_SECONDS to a larger number"
        what = f"the C compiler has not ended after {seconds:g} seconds"
        raise CompileFailed(three_parts(what, f"command: {shown(command)}", remedy)) from error
    return subprocess.CompletedProcess(command, process.returncode, output, words)


def shown(command: Sequence[str]) -> str:
    """A command as a user types it; bytes that are not UTF-8 are escaped."""
    return shlex.join(command).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def search_path() -> list[str]:
    """The absolute folders of PATH: what lies in the current directory is never run."""
    return [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]


def _most_seconds() -> float:
    text = os.environ.get("TRACEGRAD_COMPILE_SECONDS", "").strip()
    try:
        seconds = float(text or COMPILE_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= COMPILE_SECONDS * 6:
        what = f"the time limit of the C compiler cannot be read: {text!r}"
        remedy = "set it to a number of seconds up to 3600, or unset it"
        raise ToolchainMissing(three_parts(what, "in TRACEGRAD_COMPILE_SECONDS", remedy))
    return seconds


def _end(process: subprocess.Popen[str]) -> None:
    """End a process with those that it has started: the driver of a compiler waits for the compiler proper."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _environment(executable: str, folder: Path | None) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in REMOVED_VARIABLES}
    # The assembler and the linker are also looked for beside the compiler and in the system's folders.
    folders = [*search_path(), os.path.dirname(executable), *os.defpath.split(os.pathsep)]
    environment |= {"LC_ALL": "C", "PATH": os.pathsep.join(filter(os.path.isabs, folders))}
    return environment if folder is None else environment | {"TMPDIR": str(folder)}
