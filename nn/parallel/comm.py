"""What PyTorch moves between devices: there are none, so it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...tensors.device import NO_ACCELERATOR
from ..module import Module

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike, Tree

__all__ = ["gather", "parallel_apply", "replicate", "scatter"]


def replicate(network: Module, devices: Sequence[DeviceLike], detach: bool = False) -> list[Module]:
    """Copies of a module on devices: none for no devices. RuntimeError for any, for there are none.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parallel import replicate
    >>> replicate(tg.nn.Linear(2, 1), [])
    []
    """
    if len(devices):
        raise RuntimeError(f"{NO_ACCELERATOR} A module is replicated on devices: call the module.")
    return []


def scatter(inputs: Tree, target_gpus: Sequence[DeviceLike], dim: int = 0) -> NoReturn:
    """AttributeError, as in PyTorch without CUDA: there are no devices to scatter to.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parallel import scatter
    >>> try:
    ...     scatter(tg.ones(2), [0, 1])
    ... except AttributeError:
    ...     print("no devices")
    no devices
    """
    raise AttributeError("module 'torch._C' has no attribute '_scatter': there are no devices to scatter to")


def gather(outputs: Tree, target_device: DeviceLike, dim: int = 0) -> NoReturn:
    """AssertionError for tensors on the CPU, as in PyTorch: use ``cat``.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parallel import gather
    >>> try:
    ...     gather([tg.ones(2)], "cpu")
    ... except AssertionError:
    ...     print("no devices")
    no devices
    """
    raise AssertionError("Gather function not implemented for CPU tensors: use cat()")


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Tree],
    kwargs_tup: Sequence[Mapping[str, Any]] | None = None,
    devices: Sequence[DeviceLike] | None = None,
) -> NoReturn:
    """RuntimeError: there are no devices to apply modules on. Call them one after the other.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parallel import parallel_apply
    >>> try:
    ...     parallel_apply([tg.nn.ReLU()], [tg.ones(2)])
    ... except (RuntimeError, AssertionError):
    ...     print("no devices")
    no devices
    """
    raise RuntimeError(f"{NO_ACCELERATOR} Call the modules one after the other.")
