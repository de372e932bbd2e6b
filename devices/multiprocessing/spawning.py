"""``spawn``: a function in several processes, whose errors end all of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing import connection
from pathlib import Path
from typing import Any


class ProcessException(Exception):
    """A process that ``spawn`` has started has failed: `error_index` says which one, `pid` its number.

    >>> import tracegrad as tg
    >>> raised = tg.multiprocessing.ProcessRaisedException("ValueError: no", 1, 4711)
    >>> isinstance(raised, tg.multiprocessing.ProcessException), raised.error_index
    (True, 1)
    """

    __slots__ = ("error_index", "error_pid")

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function has raised in a process of ``spawn``; the text is the traceback there.

    >>> import tracegrad as tg
    >>> raised = tg.multiprocessing.ProcessRaisedException("ValueError: no", 1, 4711)
    >>> str(raised), raised.pid
    ('ValueError: no', 4711)
    """


class ProcessExitedException(ProcessException):
    """A process of ``spawn`` has ended by a signal (`signal_name`) or an exit code (`exit_code`).

    >>> import tracegrad as tg
    >>> ended = tg.multiprocessing.ProcessExitedException("process 1 ended", 1, 4711, -9, "SIGKILL")
    >>> ended.exit_code, ended.signal_name
    (-9, 'SIGKILL')
    """

    __slots__ = ("exit_code", "signal_name")

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_path: str) -> None:
    """What runs in a process."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent has it, too
    except Exception:
        Path(error_path).write_text(traceback.format_exc(), encoding="utf-8")
        sys.exit(1)


class ProcessContext:
    """The processes of one ``spawn(..., join=False)``: ``pids()`` are their numbers, ``join()`` waits for one of them
    to end.

    >>> import tracegrad as tg
    >>> tg.multiprocessing.ProcessContext([], []).join()
    True
    """

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self._running = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The processes' numbers."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for one of the processes to end; True once all have. If one has failed, the others are ended.

        ProcessRaisedException with its traceback, ProcessExitedException for an exit code or a signal.
        """
        if not self._running:
            return True
        failed = None
        for sentinel in connection.wait(list(self._running), timeout=timeout):
            i = self._running.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                failed = i
                break
        if failed is None:
            if not self._running:
                self._remove_files()
            return not self._running
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        raise self._error(failed)

    def _error(self, i: int) -> ProcessException:
        process, path = self.processes[i], Path(self.error_files[i])
        text = path.read_text(encoding="utf-8") if path.stat().st_size else ""
        self._remove_files()
        if text:
            message = f"\n\n-- Process {i} terminated with the following error:\n{text}"
            return ProcessRaisedException(message, i, process.pid)
        if process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return ProcessExitedException(
                f"process {i} terminated with signal {name}", i, process.pid, process.exitcode, name
            )
        message = f"process {i} terminated with exit code {process.exitcode}"
        return ProcessExitedException(message, i, process.pid, process.exitcode)

    def _remove_files(self) -> None:
        for path in self.error_files:
            Path(path).unlink(missing_ok=True)


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """``spawn`` with a start method that Python knows ("spawn", "fork", "forkserver"; ValueError for another).

    >>> import tracegrad as tg
    >>> tg.multiprocessing.start_processes(print, nprocs=0, start_method="fork")
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for i in range(nprocs):
        handle, path = tempfile.mkstemp(prefix="tracegrad-spawn-")
        os.close(handle)
        process = context.Process(target=_run, args=(fn, i, args, path), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(path)
    started = ProcessContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call ``fn(i, *args)`` in `nprocs` new processes, and wait for them, or return them, a `ProcessContext`, with
    ``join=False``.

    `fn` must be importable; `daemon` ends the processes with this one. If one fails, the others are ended, and its
    error is raised here: ProcessRaisedException, or ProcessExitedException for a signal or an exit code.

    >>> import tracegrad as tg
    >>> tg.multiprocessing.spawn(print, args=("done",), nprocs=0)
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
