"""Files of the safetensors package: dicts of tensors, and nothing else. The package is an extra."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.types import (
    bfloat16,
    bool_,
    complex64,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ..tensors.device import device, require_cpu
from ..tensors.tensor import Tensor, make


def _numpy_functions() -> Any:
    try:
        return importlib.import_module("safetensors.numpy")
    except ImportError as error:
        raise ImportError(
            "files in the format safetensors need the package of that name, which is not installed: "
            "pip install safetensors"
        ) from error


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """`tensors` by name as the bytes of a file, with `metadata` (texts by name).

    ValueError for anything but a dict of tensors, RuntimeError where two of them share memory. ImportError without the
    package.
    """
    data: bytes = _numpy_functions().save(_arrays(tensors), metadata)
    return data


def save_file(tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Write `tensors` by name to a path; see `save`.

    >>> import tempfile, os, tracegrad as tg
    >>> from tracegrad.serialization import safetensors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     safetensors.save_file({"w": tg.ones(2, dtype=tg.bfloat16)}, path)
    ...     safetensors.load_file(path)
    {'w': tensor([1., 1.], dtype=tracegrad.bfloat16)}
    """
    _numpy_functions().save_file(_arrays(tensors), os.fspath(filename), metadata)


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors in the bytes of a file."""
    _numpy_functions()
    parts = importlib.import_module("safetensors").deserialize(data)
    return _tensors({name: _array(part) for name, part in parts})


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of the file at a path. RuntimeError or AssertionError for any device but the CPU."""
    require_cpu(device)
    return _tensors(_numpy_functions().load_file(os.fspath(filename)))


def loaded(path: Any, map_location: Any) -> dict[str, Tensor]:
    """What ``tracegrad.load`` reads from a path that ends as these files do."""
    if map_location is not None and not isinstance(map_location, (str, bytes, device)):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    return load_file(path, "cpu" if map_location is None else map_location)


def _arrays(tensors: dict[str, Tensor]) -> dict[str, np.ndarray]:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    seen: dict[int, str] = {}
    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        array = eager().read(tensor.detach(), "safetensors.save()")
        other = seen.setdefault(id(tensor.buffer), name)
        if other != name and array.size:
            raise RuntimeError(
                f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
                f"loading them again: {other!r} and {name!r}. clone() one of them."
            )
        arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    return arrays


#: The names of element types in files.
_DTYPES = {
    "BOOL": bool_, "U8": uint8, "I8": int8, "I16": int16, "I32": int32, "I64": int64, "F16": float16, "BF16": bfloat16,
    "F32": float32, "F64": float64, "C64": complex64,
}  # fmt: skip


def _array(part: dict[str, Any]) -> np.ndarray:
    if part["dtype"] not in _DTYPES:
        raise TypeError(f"the file has a tensor of type {part['dtype']}, which tracegrad does not have")
    return np.frombuffer(part["data"], _DTYPES[part["dtype"]].numpy).reshape(part["shape"])


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: make(_owned(array)) for name, array in arrays.items()}


def _owned(array: np.ndarray) -> np.ndarray:
    if array.dtype.name == "bfloat16":
        array = array.view(bfloat16.numpy)
    return array if array.flags.writeable else array.copy()
