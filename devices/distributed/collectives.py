"""Collective functions of one process: each result is the one operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ...tape.grad_mode import no_grad
from ...tensors.tensor import Tensor
from .groups import RedOpType, required

if TYPE_CHECKING:
    from .groups import ProcessGroup


class Work:
    """What a call with ``async_op=True`` returns: it has been done.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> work = dist.all_reduce(tg.ones(2), async_op=True)
    >>> work.wait(), work.is_completed()
    (True, True)
    >>> dist.destroy_process_group()
    """

    def __init__(self, result: list[Any] | None = None) -> None:
        self._result = result or []

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    def is_success(self) -> bool:
        """True."""
        return True

    def result(self) -> list[Any]:
        """The tensors that were written."""
        return self._result


def _finished(async_op: bool, *written: Any) -> Work | None:
    return Work(list(written)) if async_op else None


def _tensor(x: Any, name: str) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type tensor but got {type(x)}")
    return x


def _one_of(tensors: Any, name: str) -> Any:
    if not isinstance(tensors, (list, tuple)) or len(tensors) != 1:
        raise ValueError(f"{name} must be a list of one tensor: the group has one process, got {tensors!r:.80}")
    return _tensor(tensors[0], name)


def _store(target: Any, source: Any) -> None:
    """Write the numbers of `source` to `target`, of the same number of elements."""
    with no_grad():
        target.copy_(source.detach().reshape(target.shape))


def from_zero(rank: int | None, what: str) -> None:
    if rank not in (0, None):
        raise ValueError(f"{what} rank {rank} is not part of the group, which has one process: write 0")


def all_reduce(
    tensor: Tensor, op: RedOpType = RedOpType.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """`tensor` of all processes joined by `op` (default: the sum), in place: as it is, of one process. With `async_op`
    a `Work` is returned. RuntimeError for an average, which PyTorch has on devices only. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.ones(2)
    >>> dist.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    _tensor(tensor, "tensor")
    required(group)
    if op is RedOpType.AVG:
        raise RuntimeError("Cannot use ReduceOp.AVG with Gloo: sum, and divide by get_world_size()")
    return _finished(async_op, tensor)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: RedOpType = RedOpType.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`tensor` of all processes joined by `op` (default: the sum), at process `dst`: as it is. With `async_op` a `Work`
    is returned. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.ones(2)
    >>> dist.reduce(x, dst=0)
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    from_zero(dst, "dst")
    return all_reduce(tensor, op, group, async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """`tensor` of process `src` to all: as it is. With `async_op` a `Work` is returned. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.ones(2)
    >>> dist.broadcast(x, src=0)
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    _tensor(tensor, "tensor")
    required(group)
    from_zero(src, "src")
    return _finished(async_op, tensor)


def barrier(
    group: ProcessGroup | None = None, async_op: bool = False, device_ids: Sequence[int] | None = None
) -> Work | None:
    """Wait for all processes: there is no other. With `async_op` a `Work` is returned. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.barrier()
    >>> dist.destroy_process_group()
    """
    required(group)
    return _finished(async_op)


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all processes: there is no other. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> dist.monitored_barrier()
    >>> dist.destroy_process_group()
    """
    required(group)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """`tensor` of each process into a list of tensors of its size, of which there is one. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [tg.zeros(2)]
    >>> dist.all_gather(found, tg.ones(2))
    >>> found
    [tensor([1., 1.])]
    >>> dist.destroy_process_group()
    """
    _tensor(tensor, "tensor")
    required(group)
    _store(_one_of(tensor_list, "tensor_list"), tensor)
    return _finished(async_op, *tensor_list)


def all_gather_into_tensor(
    output: Tensor, input: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """`input` of each process, one after the other, into `output`, of as many elements. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = tg.zeros(2)
    >>> dist.all_gather_into_tensor(found, tg.ones(2))
    >>> found
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    required(group)
    _store(_tensor(output, "output_tensor"), _tensor(input, "input_tensor"))
    return _finished(async_op, output)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`tensor` of each process into a list of tensors at process `dst`, which is this one. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [tg.zeros(2)]
    >>> dist.gather(tg.ones(2), found, dst=0)
    >>> found
    [tensor([1., 1.])]
    >>> dist.destroy_process_group()
    """
    _tensor(tensor, "tensor")
    required(group)
    from_zero(dst, "dst")
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """The tensors of a list at process `src`, which is this one, one to each process's `tensor`. ValueError without a
    process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.zeros(2)
    >>> dist.scatter(x, [tg.ones(2)], src=0)
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    _tensor(tensor, "tensor")
    required(group)
    from_zero(src, "src")
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _store(tensor, _one_of(scatter_list, "scatter_list"))
    return _finished(async_op, tensor)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: RedOpType = RedOpType.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """The lists of all processes joined by `op`, one tensor to each process's `output`. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.zeros(2)
    >>> dist.reduce_scatter(x, [tg.ones(2)])
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    required(group)
    _store(_tensor(output, "output"), _one_of(input_list, "input_list"))
    return _finished(async_op, output)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: RedOpType = RedOpType.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """The tensors of all processes joined by `op`, a part to each process's `output`. ValueError without a process
    group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.zeros(2)
    >>> dist.reduce_scatter_tensor(x, tg.ones(2))
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    return all_gather_into_tensor(output, input, group, async_op)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """One tensor of each process's list to each process. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> found = [tg.zeros(2)]
    >>> dist.all_to_all(found, [tg.ones(2)])
    >>> found
    [tensor([1., 1.])]
    >>> dist.destroy_process_group()
    """
    required(group)
    _store(_one_of(output_tensor_list, "output_tensor_list"), _one_of(input_tensor_list, "input_tensor_list"))
    return _finished(async_op, *output_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """A part of each process's tensor `input` to each process's `output`. ValueError without a process group.

    >>> import tracegrad as tg
    >>> dist = tg.distributed
    >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> x = tg.zeros(2)
    >>> dist.all_to_all_single(x, tg.ones(2))
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    return all_gather_into_tensor(output, input, group, async_op)


# ------------------------------------------------------------------------------------------------- point to point


_TO_ITSELF = """ValueError: the group has one process, which is no peer of itself, or there is no group.

>>> import tracegrad as tg
>>> try:
...     tg.distributed.{name}(tg.ones(1), 0)
... except ValueError:
...     print("no other process")
no other process
"""


def _to_itself(name: str, peer: str) -> Callable[..., Any]:
    def refused(tensor: Tensor, *args: Any, **options: Any) -> Any:
        _tensor(tensor, "tensor")
        required(options.get("group"))
        raise ValueError(
            f"Invalid {peer} rank: {peer} rank should not be the same as the rank of the current process, and the "
            "group has no other"
        )

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = _TO_ITSELF.format(name=name)
    return refused


send, isend = _to_itself("send", "destination"), _to_itself("isend", "destination")
recv, irecv = _to_itself("recv", "source"), _to_itself("irecv", "source")
