"""One iteration over a loader whose batches are made by worker processes.

Each worker has a connection of its own, and nothing is shared between workers: one that is killed stops none of the
others. This process has no threads for it; what a worker sends waits in the connection.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection as connections
from pickle import PicklingError
from typing import Any

from ...tracing.user_warning import warn_user
from ._utils.exceptions import ExceptionWrapper
from ._utils.transport import receive, send
from ._utils.worker import (
    MP_STATUS_CHECK_INTERVAL,
    Assignment,
    _DatasetKind,
    _IterableDatasetStopIteration,
    _ResumeIteration,
    _worker_loop,
    loaders_ends,
)
from .iteration import _BaseDataLoaderIter


class _Worker:
    """A worker process, and this process's end of the connection to it."""

    def __init__(self, context: Any, assignment: Assignment) -> None:
        self.connection, far_end = context.Pipe(duplex=True)
        loaders_ends.add(self.connection)
        self.process = context.Process(target=_worker_loop, args=(assignment, far_end), daemon=True)
        try:
            self.process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            far_end.close()
        self.is_active = True  # and has not said that its stream has ended
        self.tasks = 0  # which it was sent, and whose batches were not yet handed out

    def send(self, message: Any) -> None:
        """Send it; nothing happens if the worker is gone, which is found when its answer is waited for."""
        try:
            send(self.connection, message)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def dismiss(self) -> None:
        """Tell it that nothing follows. What is wrong with a connection that is given up does not matter any more."""
        if not self.connection.closed:
            with suppress(OSError):
                self.send(None)
            with suppress(OSError):
                self.connection.close()

    def end(self, until: float) -> None:
        """Wait for the process until that time, and stop it then."""
        self.process.join(max(0.0, until - time.monotonic()))
        for stop in (self.process.terminate, self.process.kill):
            if self.process.is_alive():
                stop()
                self.process.join(MP_STATUS_CHECK_INTERVAL)

    def fate(self) -> str:
        """What has become of a process that has exited."""
        self.process.join(MP_STATUS_CHECK_INTERVAL)
        code = self.process.exitcode
        if code is not None and code < 0:
            name = signal.strsignal(-code) or f"Unknown signal {-code}"
            return f"DataLoader worker (pid {self.process.pid}) is killed by signal: {name}. "
        return (
            f"DataLoader worker (pid {self.process.pid}) exited unexpectedly with exit code {code}. Details are lost "
            "due to multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches that workers make ahead: `prefetch_factor` for each of them. Index batches go to the workers in turn, and
    batches come back in the sampler's order, or, without `in_order`, as they are ready.

    KeyboardInterrupt while it waits for a batch loses nothing. One that comes while a message is read or sent, or
    between that and what is noted of it, may leave half a message behind: `_is_whole` is False from then on, and the
    iteration is over.
    """

    _workers: list[_Worker]
    _shutdown = False
    _is_whole = False

    def __init__(self, loader: Any) -> None:
        self._workers = []
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._process = os.getpid()
        self._start_workers(loader)
        self._reset(loader, first_iter=True)
        self._is_whole = True

    def begin_again(self, loader: Any) -> bool:
        """Begin with the first batch; False if that takes other workers: these were interrupted, or their iteration."""
        is_whole, self._is_whole = self._is_whole, False
        try:
            if is_whole:
                self._reset(loader)
                self._is_whole = True
        except RuntimeError:  # from a worker that is gone; an interrupt that it has had, too, is no error
            if any(worker.process.exitcode for worker in self._workers):
                raise
        if not self._is_whole:
            self._shutdown_workers()
        return self._is_whole

    def _start_workers(self, loader: Any) -> None:
        context = loader.multiprocessing_context or loader.default_context()
        for i in range(self._num_workers):
            assignment = Assignment(
                self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last,
                self._base_seed, loader.worker_init_fn, i, self._num_workers,
            )  # fmt: skip
            try:
                self._workers.append(_Worker(context, assignment))
            except (TypeError, AttributeError, PicklingError):
                warn_user(
                    "Got pickle error when attempting to start a worker Process. "
                    "This might be because the worker Process arguments are not picklable. "
                    "Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms "
                    "to 'forkserver', which requires the worker Process arguments to be picklable. "
                    "You can also try multiprocessing.set_start_method('fork').",
                )
                raise

    # ------------------------------------------------------------------------------------------------------- tasks

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._sent = 0  # the next task's number
        self._due = 0  # the number of the task whose batch is handed out next
        self._tasks: dict[int, _Worker] = {}
        self._arrived: dict[int, Any] = {}  # batches that wait for those before them
        self._turns = itertools.cycle(self._workers)
        if not first_iter:
            self._resume()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _resume(self) -> None:
        """Make the workers begin again, and forget what they send of before."""
        for worker in self._workers:
            worker.is_active, worker.tasks = True, 0
            worker.send(_ResumeIteration())
        waiting = list(self._workers)
        while waiting:
            worker, (answer, _) = self._received(waiting)
            if isinstance(answer, _ResumeIteration):
                waiting.remove(worker)

    def _try_put_index(self) -> None:
        """Send the next index batch to the worker whose turn it is; nothing if there is none of either."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        worker = self._next_worker()
        if worker is None:
            return
        self._tasks[self._sent] = worker
        worker.tasks += 1
        worker.send((self._sent, index))
        self._sent += 1

    def _next_worker(self) -> _Worker | None:
        active = sum(worker.is_active for worker in self._workers)
        most = self._prefetch_factor * self._num_workers
        for worker in itertools.islice(self._turns, self._num_workers):
            if worker.is_active and (self._in_order or worker.tasks < most // active):
                return worker
        return None

    # ----------------------------------------------------------------------------------------------------- batches

    def _next_data(self) -> Any:
        if not self._is_whole:
            raise RuntimeError(
                "DataLoader: this iteration was interrupted while a batch was on its way from a worker process. Begin "
                "another one, iter(loader) or a new loop over it."
            )
        self._is_whole = False
        try:
            data = self._next_batch()
        except Exception:
            self._is_whole = True
            raise
        self._is_whole = True
        return data

    def _next_batch(self) -> Any:
        while self._find_due():
            if self._due in self._arrived:
                return self._handed_out(self._due, self._arrived.pop(self._due))
            index, data = self._get_data()
            if isinstance(data, _IterableDatasetStopIteration) and self._dataset_kind == _DatasetKind.Iterable:
                self._mark_worker_as_ended(self._workers[data.worker_id])
                self._try_put_index()
            elif index == self._due or not self._in_order:
                return self._handed_out(index, data)
            else:
                self._arrived[index] = data
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _find_due(self) -> bool:
        """Go on to the first task that has a batch, or will have one. False if there is none."""
        while self._due < self._sent:
            worker = self._tasks.get(self._due)
            if worker is not None and (self._due in self._arrived or worker.is_active):
                return True
            self._tasks.pop(self._due, None)
            self._due += 1
        return False

    def _handed_out(self, index: int, data: Any) -> Any:
        self._tasks.pop(index).tasks -= 1
        self._due += index == self._due
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _mark_worker_as_ended(self, worker: _Worker) -> None:
        worker.is_active = False
        if not self._persistent_workers:
            worker.dismiss()

    def _get_data(self) -> Any:
        return self._received([worker for worker in self._workers if worker.is_active], may_go_on=True)[1]

    def _received(self, workers: list[_Worker], may_go_on: bool = False) -> tuple[_Worker, Any]:
        """The next message of one of the workers. `may_go_on`: an interrupt while it waits leaves a whole iteration.

        RuntimeError if a worker has exited, or after `timeout` seconds.
        """
        ends = {worker.connection: worker for worker in workers}
        while True:
            self._is_whole = may_go_on
            ready = connections.wait(list(ends), self._timeout or MP_STATUS_CHECK_INTERVAL)
            self._is_whole = False
            for end in ready:
                worker = ends[end]
                try:
                    return worker, receive(worker.connection)
                except (EOFError, OSError) as error:  # OSError where the worker ended within a message
                    worker.process.join(MP_STATUS_CHECK_INTERVAL)
                    if worker.process.is_alive() and not isinstance(error, (EOFError, ConnectionResetError)):
                        raise
            gone = [worker for worker in workers if not worker.process.is_alive()]
            if gone:
                self._report(gone)
            if not ready and self._timeout > 0:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _report(self, gone: list[_Worker]) -> None:
        for worker in gone:
            worker.is_active = False
        pids = ", ".join(str(worker.process.pid) for worker in gone)
        cause = RuntimeError(gone[0].fate())
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from cause

    # --------------------------------------------------------------------------------------------------------- end

    def _shutdown_workers(self) -> None:
        """End the workers: what they are at may be finished for some seconds."""
        if self._shutdown or self._process != os.getpid():  # a forked process has a copy of this iterator
            return
        for worker in self._workers:
            worker.dismiss()
        until = time.monotonic() + MP_STATUS_CHECK_INTERVAL
        for worker in self._workers:
            worker.end(until)
        self._shutdown = True  # after an interrupt the rest is done by who calls this next

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending() and self._workers:  # daemons end with this process
            self._shutdown_workers()
