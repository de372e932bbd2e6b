"""Collective functions of any objects, of one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .collectives import from_zero
from .groups import required

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike
    from .groups import ProcessGroup


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """An object of each process into a list, of one. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [None]
    >>> dist.all_gather_object(found, "a")
    >>> found
    ['a']
    >>> dist.destroy_process_group()
    """
    required(group)
    object_list[0] = obj


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """An object of each process into a list, of one, at process `dst`, which is this one. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [None]
    >>> dist.gather_object("a", found, dst=0)
    >>> found
    ['a']
    >>> dist.destroy_process_group()
    """
    required(group)
    from_zero(dst, "dst")
    if not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = obj


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: DeviceLike | None = None,
    group_src: int | None = None,
) -> None:
    """The objects of process `src` to all: as they are. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> objects = ["a", 1]
    >>> dist.broadcast_object_list(objects, src=0)
    >>> objects
    ['a', 1]
    >>> dist.destroy_process_group()
    """
    required(group)
    from_zero(src, "src")


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """The objects of a list at process `src`, one to each process. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [None]
    >>> dist.scatter_object_list(found, ["a"], src=0)
    >>> found
    ['a']
    >>> dist.destroy_process_group()
    """
    required(group)
    from_zero(src, "src")
    if not scatter_object_input_list:
        raise ValueError("Argument ``scatter_object_input_list`` must be specified on source rank.")
    scatter_object_output_list[0] = scatter_object_input_list[0]
