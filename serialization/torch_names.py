"""What PyTorch's files name: a closed list, each name with what it is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.types import ALL_DTYPES, DType, bool_
from ..tensors.device import device
from ..tensors.generator import Generator
from ..tensors.layouts import formats
from ..tensors.tensor import Size, Tensor
from . import storages
from .rebuilding import (
    _rebuild_from_type_v2,
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from .storages import CLASS_OF, TypedStorage
from .torch_paths import VARIABLE_FUNCTIONS
from .untyped_storage import UntypedStorage

#: What stands for itself: element types, kinds of storages, memory formats.
VALUES: dict[str, Any] = {
    **{f"torch.{dtype.name}": dtype for dtype in ALL_DTYPES},
    **{f"{place}.{kind.__name__}": kind for kind in CLASS_OF.values() for place in ("torch", "torch.cuda")},
    "torch.storage.UntypedStorage": UntypedStorage,
    "torch.storage._UntypedStorage": UntypedStorage,
    "torch.UntypedStorage": UntypedStorage,
    "torch.storage.TypedStorage": TypedStorage,
    "torch.storage._TypedStorage": TypedStorage,
    "torch.channels_last": formats.channels_last,
    "torch.channels_last_3d": formats.channels_last_3d,
    "torch.contiguous_format": formats.contiguous_format,
    "torch.preserve_format": formats.preserve_format,
}


def _get_layout(name: Any) -> Any:
    if name != "torch.strided":
        raise ValueError(f"a tensor with the layout {name!r}, which tracegrad does not have")
    return formats.strided


def _device(kind: Any, index: Any = None) -> device:
    if type(kind) is not str or not (index is None or type(index) is int):
        raise TypeError(f"a device that is made of {kind!r} and {index!r}")
    return device(kind, index)


#: What is called, and checks all that it is given.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta_tensor_no_storage,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch.serialization._get_layout": _get_layout,
    "torch.device": _device,
}

_REBUILDING = _rebuild_tensor_v2.__module__
_FORMATS = ("channels_last", "channels_last_3d", "contiguous_format", "preserve_format")

#: Where PyTorch has what stands here: by module and name, both ways.
WRITTEN = {
    **{(DType.__module__, "bool_" if dtype is bool_ else dtype.name): ("torch", dtype.name) for dtype in ALL_DTYPES},
    **{(storages.__name__, kind.__name__): ("torch", kind.__name__) for kind in CLASS_OF.values()},
    **{(formats.__name__, name): ("torch", name) for name in _FORMATS},
    **{
        (_REBUILDING, function.__name__): ("torch._utils", function.__name__)
        for function in (
            _rebuild_tensor_v2,
            _rebuild_parameter,
            _rebuild_parameter_with_state,
            _rebuild_meta_tensor_no_storage,
        )  # fmt: skip
    },
    (_REBUILDING, "_rebuild_from_type_v2"): ("torch._tensor", "_rebuild_from_type_v2"),
    (__name__, "_get_layout"): ("torch.serialization", "_get_layout"),
    (UntypedStorage.__module__, "UntypedStorage"): ("torch.storage", "UntypedStorage"),
    (device.__module__, "device"): ("torch", "device"),
    (Size.__module__, "Size"): ("torch", "Size"),
    (Tensor.__module__, "Tensor"): ("torch", "Tensor"),
    (Generator.__module__, "Generator"): ("torch._C", "Generator"),
}
#: What is found by its name when a file may run code.
FOUND: dict[str, Any] = {
    **VALUES,
    **FUNCTIONS,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch.Size": Size,
    "torch.Tensor": Tensor,
    "torch.device": device,
    "torch._C.Generator": Generator,
    "torch._C._VariableFunctionsClass": VARIABLE_FUNCTIONS,
}
