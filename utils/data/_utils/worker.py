"""What runs in a worker process: it is sent indices, and sends batches back."""

from __future__ import annotations

import os
import queue
import random
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....runtime.num_threads import set_num_threads
from ....tensors.generator import manual_seed
from ....tensors.tensor import unrecorded
from .exceptions import ExceptionWrapper
from .fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from .transport import receive, send

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, and its copy of the dataset.

    `rng` and `worker_method` are PyTorch's: None and "multiprocessing" in processes.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader what it knows of itself (`id`, `num_workers`, `seed`, `dataset`); None elsewhere.

    >>> import tracegrad as tg
    >>> tg.utils.data.get_worker_info() is None
    True
    """
    return _worker_info


class _DatasetKind:
    """How items are asked for: by index, or one after the other."""

    __slots__ = ()
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """What makes batches of the items."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """The answer of a worker whose stream has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Begin again, with the same process; also the answer that says that nothing of before follows."""


@dataclass(frozen=True)
class Assignment:
    """What a worker is started with."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], Any] | None
    worker_id: int
    num_workers: int

    def fetcher(self) -> Any:
        """What makes this worker's batches."""
        return _DatasetKind.create_fetcher(
            self.kind, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


#: The loaders' ends of the connections to all workers of this process. A forked worker has copies of them, which would
#: keep its siblings from seeing that the loader has gone.
loaders_ends: weakref.WeakSet[Any] = weakref.WeakSet()


def _worker_loop(assignment: Assignment, connection: Any) -> None:
    """Serve the loader until it says that it is done, or is gone."""
    for end in list(loaders_ends):
        end.close()
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, messages), daemon=True).start()
    try:
        unrecorded(_serve, assignment, connection, messages)
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass  # the loader is told by itself, or has gone
    finally:
        connection.close()


def _listen(connection: Any, messages: queue.SimpleQueue[Any]) -> None:
    """Hand on what the loader sends, so that it never waits for a worker that is computing."""
    parent = os.getppid()
    try:
        while True:
            if connection.poll(MP_STATUS_CHECK_INTERVAL):
                message = receive(connection)
                messages.put(message)
                if message is None:
                    return
            elif os.getppid() != parent:
                break
    except (EOFError, OSError):
        pass
    messages.put(None)
    time.sleep(MP_STATUS_CHECK_INTERVAL)  # for a batch that is being made; nobody reads the answer
    os._exit(1)


def _seed(base_seed: int, worker_id: int) -> None:
    """Python's, numpy's and this library's generators, as PyTorch seeds them in that worker."""
    random.seed(base_seed + worker_id)
    manual_seed(base_seed + worker_id)
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))


def _serve(assignment: Assignment, connection: Any, messages: queue.SimpleQueue[Any]) -> None:
    global _worker_info
    number = assignment.worker_id
    set_num_threads(1)
    _seed(assignment.base_seed, number)
    seed = assignment.base_seed + number
    _worker_info = WorkerInfo(number, assignment.num_workers, seed, assignment.dataset)
    fetcher = _started(assignment)
    has_ended = False
    while (message := messages.get()) is not None:
        if isinstance(message, _ResumeIteration):
            send(connection, (message, None))
            fetcher, has_ended = _attempted(assignment.fetcher, number), False
        elif not has_ended:
            index, indices = message
            data = _fetched(fetcher, indices, assignment)
            has_ended = isinstance(data, _IterableDatasetStopIteration)
            _answer(connection, index, data, number)


def _started(assignment: Assignment) -> Any:
    def start() -> Any:
        if assignment.init_fn is not None:
            assignment.init_fn(assignment.worker_id)
        return assignment.fetcher()

    return _attempted(start, assignment.worker_id)


def _attempted(function: Callable[[], Any], worker_id: int) -> Any:
    """What `function` returns, or the error that it raises."""
    try:
        return function()
    except Exception:
        return ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")


def _fetched(fetcher: Any, indices: Any, assignment: Assignment) -> Any:
    if isinstance(fetcher, ExceptionWrapper):
        return fetcher
    try:
        return fetcher.fetch(indices)
    except Exception as error:
        if isinstance(error, StopIteration) and assignment.kind == _DatasetKind.Iterable:
            return _IterableDatasetStopIteration(assignment.worker_id)
        return ExceptionWrapper(where=f"in DataLoader worker process {assignment.worker_id}")


def _answer(connection: Any, index: int, data: Any, worker_id: int) -> None:
    """Send a batch; the error instead, if it cannot be pickled."""
    try:
        send(connection, (index, data))
    except (BrokenPipeError, ConnectionResetError):
        raise
    except Exception:
        failed = ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")
        if isinstance(data, ExceptionWrapper):  # its class is what cannot be pickled: its text is what matters
            failed.exc_type, failed.exc_msg = RuntimeError, data.exc_msg
        send(connection, (index, failed))
