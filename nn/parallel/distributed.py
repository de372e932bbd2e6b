"""DistributedDataParallel: its module, in a group of one process."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ...devices.distributed.groups import required
from ..module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """`module` in a process group, which has one process: gradients are its own, and nothing is exchanged.

    ``.module`` is the module, and names in the state begin with ``module.``. ValueError unless
    `distributed.init_process_group` was called; RuntimeError for a module without parameters that require gradients.

    >>> import tracegrad as tg
    >>> tg.distributed.init_process_group("gloo", "tcp://127.0.0.1:29500", world_size=1, rank=0)
    >>> model = tg.nn.parallel.DistributedDataParallel(tg.nn.Linear(2, 1))
    >>> model(tg.zeros(3, 2)).shape
    tracegrad.Size([3, 1])
    >>> tg.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        self.process_group = required(process_group)
        if device_ids:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/"
                f"multiple-device GPU modules or CPU modules, but got device_ids {device_ids}: leave them out"
            )
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        if mixed_precision is not None:
            raise NotImplementedError("DistributedDataParallel(mixed_precision=...) is not there: use tg.autocast")
        self.module = module
        self.device_ids = None
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """``module(*inputs, **kwargs)``."""
        return self.module(*inputs, **kwargs)

    def no_sync(self) -> Any:
        """A block whose backward passes exchange no gradients; of one process none do."""
        return _NoSync(self)

    def join(self, *args: Any, **kwargs: Any) -> Any:
        """A block for processes with unequal numbers of batches: nothing to do for one."""
        return nullcontext()


class _NoSync:
    """While it is entered, a module's `require_backward_grad_sync` is False."""

    def __init__(self, module: DistributedDataParallel) -> None:
        self._module = module
        self._before = True

    def __enter__(self) -> None:
        self._before, self._module.require_backward_grad_sync = self._module.require_backward_grad_sync, False

    def __exit__(self, *exc_info: object) -> None:
        self._module.require_backward_grad_sync = self._before
