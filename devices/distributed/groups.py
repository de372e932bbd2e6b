"""Process groups: the default one, of this process alone."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike
from ...tracing.user_warning import warn_user

NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
_ALONE = "tracegrad computes in one process: a group has world size 1. Start it without a launcher of processes"


class RedOpType(enum.Enum):
    """How `all_reduce` joins what processes have."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


class ReduceOp:
    """How ``all_reduce`` joins what processes have: SUM, AVG, PRODUCT, MIN, MAX and others; of one process nothing is
    joined.

    >>> import tracegrad as tg
    >>> tg.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT
    MIN, MAX = RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM


reduce_op = ReduceOp


class Backend(str):
    """A backend's name in lower case. ValueError unless it is a string.

    >>> import tracegrad as tg
    >>> tg.distributed.Backend("GLOO")
    'gloo'
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {type(name).__name__}")
        return str(name.lower())


class ProcessGroup:
    """A group of processes: this one. Made by ``init_process_group`` and ``new_group``.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.group.WORLD.size(), dist.group.WORLD.rank()
    (1, 0)
    >>> dist.destroy_process_group()
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def rank(self) -> int:
        """0."""
        return 0

    def size(self) -> int:
        """1."""
        return 1

    def name(self) -> str:
        """The backend's name."""
        return self.backend


class _World(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before `init_process_group`."""
        return _default[0]


class group(metaclass=_World):
    """``group.WORLD`` is the default group; None before ``init_process_group``.

    >>> import tracegrad as tg
    >>> tg.distributed.group.WORLD is None
    True
    """


class GroupMember(metaclass=_World):
    """``GroupMember.WORLD`` is the default group; ``NON_GROUP_MEMBER`` what a process has that is in none.

    >>> import tracegrad as tg
    >>> tg.distributed.GroupMember.NON_GROUP_MEMBER
    -100
    """

    NON_GROUP_MEMBER = -100


_default: list[ProcessGroup | None] = [None]


def is_initialized() -> bool:
    """Whether `init_process_group` has been called.

    >>> import tracegrad as tg
    >>> tg.distributed.is_initialized()
    False
    """
    return _default[0] is not None


def required(of: ProcessGroup | None = None) -> ProcessGroup:
    """The group, or the default one. ValueError if there is none."""
    found = _default[0] if of is None else of
    if _default[0] is None or found is None:
        raise ValueError(NOT_INITIALIZED)
    return found


def _environment(name: str) -> int:
    if name not in os.environ:
        raise ValueError(
            f"Error initializing distributed using env:// rendezvous: environment variable {name} expected, but not set"
        )
    return int(os.environ[name])


def _of_environment(world_size: int, rank: int) -> tuple[int, int]:
    rank = _environment("RANK") if rank == -1 else rank
    world_size = _environment("WORLD_SIZE") if world_size == -1 else world_size
    if "MASTER_ADDR" not in os.environ:
        _environment("MASTER_ADDR")
    _environment("MASTER_PORT")
    return world_size, rank


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: DeviceLike | None = None,
) -> None:
    """Make the default group, of this process alone: `world_size` 1 and `rank` 0, here or in the environment.

    Without `store` and `init_method` these are read from the variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
    ValueError if one is missing, if there is a group already, or for numbers that do not fit; RuntimeError for more
    processes, and for a backend that is not there.

    >>> import tracegrad as tg
    >>> tg.distributed.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> tg.distributed.get_world_size()
    1
    >>> tg.distributed.destroy_process_group()
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    name = Backend(backend) if backend is not None else Backend.GLOO
    if name == Backend.NCCL:
        warn_user("NCCL is not there: a group of one process works without it")
    if store is None and (init_method is None or urlparse(init_method).scheme == "env"):
        world_size, rank = _of_environment(world_size, rank)
    if world_size < 1 or rank < 0:
        raise ValueError(f"world_size and rank are needed: got world_size={world_size} and rank={rank}")
    if world_size > 1:
        raise RuntimeError(f"{_ALONE}, or write world_size=1; it is {world_size}")
    if rank >= world_size:
        raise ValueError(f"rank must be below world_size: got rank={rank} and world_size={world_size}")
    kinds = {part.rpartition(":")[2] for part in name.split(",")}
    if not kinds <= {Backend.GLOO, Backend.FAKE, Backend.UNDEFINED}:
        missing = ", ".join(sorted(kind.upper() for kind in kinds - {Backend.GLOO}))
        raise RuntimeError(f"Distributed package doesn't have {missing} built in: write init_process_group('gloo')")
    _default[0] = ProcessGroup(Backend.GLOO if name == Backend.UNDEFINED else name)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget the default group, or `group`. AssertionError if there is none.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.destroy_process_group()
    >>> dist.is_initialized()
    False
    """
    if group is None and _default[0] is None:
        raise AssertionError("Process group cannot be None: there is no default group to destroy")
    if group is None or group is _default[0]:
        _default[0] = None


def new_group(ranks: Sequence[int] | None = None, *args: Any, **options: Any) -> ProcessGroup:
    """A further group of this process alone, which has the backend of the default one. ValueError for ranks that there
    are not, and without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_world_size(dist.new_group([0]))
    1
    >>> dist.destroy_process_group()
    """
    default = required()
    if ranks is not None and list(ranks) not in ([0], []):
        raise ValueError(f"the new group's rank should be within the world_size set by init_process_group: {ranks}")
    return ProcessGroup(default.backend)


def get_rank(group: ProcessGroup | None = None) -> int:
    """The number of this process in `group`, or in the default one: 0. ValueError before ``init_process_group``.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_rank()
    0
    >>> dist.destroy_process_group()
    """
    return required(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes `group`, or the default one, has: 1. ValueError before ``init_process_group``.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """
    return required(group).size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of the backend of `group`, or of the default one. ValueError before ``init_process_group``.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_backend()
    'gloo'
    >>> dist.destroy_process_group()
    """
    return required(group).name()


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The numbers, in the default group, of the processes of `group`: [0]. ValueError before ``init_process_group``.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_process_group_ranks(dist.group.WORLD)
    [0]
    >>> dist.destroy_process_group()
    """
    required(group)
    return [0]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the default group of process `group_rank` of a group: 0. ValueError for another one.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_global_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    required(group)
    return _checked_rank(group_rank)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of process `global_rank` of the default group: 0. ValueError for another one.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.get_group_rank(dist.group.WORLD, 0)
    0
    >>> dist.destroy_process_group()
    """
    required(group)
    return _checked_rank(global_rank)


def _checked_rank(rank: int) -> int:
    if rank != 0:
        raise ValueError(f"rank {rank} is not part of the group, which has one process")
    return rank


def get_default_backend_for_device(device: DeviceLike) -> str:
    """The name of the backend for a kind of device: "gloo" for the CPU. ValueError for another one.

    >>> import tracegrad as tg
    >>> tg.distributed.get_default_backend_for_device("cpu")
    'gloo'
    """
    if str(device).partition(":")[0] != "cpu":
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.GLOO
