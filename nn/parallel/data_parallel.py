"""DataParallel: its module, for want of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...tensors.device import require_cpu
from ..module import Module

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike, Tree


class DataParallel(Module):
    """`module`, called as it is: PyTorch splits batches over devices, and there are none.

    ``.module`` is the module, and names in the state begin with ``module.``. `device_ids`, `output_device` and `dim`
    have no effect, as in PyTorch without devices.

    >>> import tracegrad as tg
    >>> model = tg.nn.DataParallel(tg.nn.Linear(2, 1))
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[DeviceLike] | None = None,
        output_device: DeviceLike | None = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """``module(*inputs, **kwargs)``."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Tree,
    device_ids: Sequence[DeviceLike] | None = None,
    output_device: DeviceLike | None = None,
    dim: int = 0,
    module_kwargs: Mapping[str, Any] | None = None,
) -> NoReturn:
    """RuntimeError, as in PyTorch without devices; AssertionError for a device that is named. Call the module.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parallel import data_parallel
    >>> try:
    ...     data_parallel(tg.nn.ReLU(), tg.ones(2))
    ... except RuntimeError:
    ...     print("no devices")
    no devices
    """
    for device in (*(device_ids or ()), output_device):
        if device is not None:
            require_cpu(device)
    raise RuntimeError("device type could not be determined: there are no devices to split over; call the module")
