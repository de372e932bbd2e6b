"""PyTorch's values as tracegrad's, and results of either as numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import tracegrad as tg

from .counterparts import Absent, at_path, counterpart, translated


def to_tracegrad(value: Any, memo: dict[Any, Any]) -> Any:
    """A value of a sample (tensors, dtypes, generators, containers) for tracegrad; equal objects stay one object."""
    if id(value) in memo:
        return memo[id(value)][0]
    if isinstance(value, torch.Tensor):
        made = _in_its_memory(value, memo) if _is_in_order(value) else tensor_to_tracegrad(value)
    elif isinstance(value, torch.Size):
        made = tuple(value)
    elif isinstance(value, (list, tuple)):
        items = [to_tracegrad(item, memo) for item in value]
        made = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    elif isinstance(value, dict):
        made = {key: to_tracegrad(item, memo) for key, item in value.items()}
    elif isinstance(value, slice):
        made = slice(*(to_tracegrad(part, memo) for part in (value.start, value.stop, value.step)))
    elif isinstance(value, torch.nn.PairwiseDistance):
        made = tg.nn.PairwiseDistance()
    elif isinstance(value, torch.Generator):
        made = tg.Generator().manual_seed(value.initial_seed())
    else:
        made = translated(value)
    memo[id(value)] = (made, value)  # the value is kept, so that its id is not given away
    return made


def tensor_to_tracegrad(tensor: torch.Tensor) -> tg.Tensor:
    """A leaf with the tensor's numbers, dtype, strides and requires_grad."""
    if tensor.layout is not torch.strided:
        raise Absent(f"layout {tensor.layout}")
    dtype = dtype_to_tracegrad(tensor.dtype)
    plain = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype is torch.bfloat16:
        made = tg.from_numpy(_strided(plain.view(torch.int16))).view(dtype)  # numpy has no such type
    else:
        made = tg.from_numpy(_strided(plain))
    if made.dtype is not dtype:
        raise Absent(f"dtype {tensor.dtype}")
    return made.requires_grad_() if tensor.requires_grad else made


def _is_in_order(tensor: torch.Tensor) -> bool:
    """Whether the elements follow each other in memory, as they are."""
    if tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
        return False
    return tensor.is_contiguous() and tensor.numel() > 0


def _in_its_memory(tensor: torch.Tensor, memo: dict[Any, Any]) -> tg.Tensor:
    """`tensor`, as a view where there is more in its memory, which functions may reach, or which others show.

    A memory is converted once, so that parts of one overlap in both libraries.
    """
    memory, start, count = tensor.untyped_storage(), tensor.storage_offset(), tensor.numel()
    key = ("memory", memory.data_ptr(), tensor.dtype)
    is_whole = count * tensor.element_size() >= memory.nbytes()
    if is_whole and key not in memo:
        made = tensor_to_tracegrad(tensor)
        memo[key] = (made.detach().view(-1), tensor)
        return made
    if key not in memo:
        plain = torch.empty(0, dtype=tensor.dtype).set_(memory, 0, (memory.nbytes() // tensor.element_size(),), (1,))
        memo[key] = (tensor_to_tracegrad(plain), plain)
    made = memo[key][0][start : start + count].view(tuple(tensor.shape))
    return made.requires_grad_() if tensor.requires_grad else made


def dtype_to_tracegrad(dtype: torch.dtype) -> Any:
    """tracegrad's dtype of that name; Absent if it has none."""
    found = at_path(str(dtype))
    if not isinstance(found, tg.dtype):
        raise Absent(str(dtype))
    return found


def has_dtype(dtype: torch.dtype) -> bool:
    """Whether tracegrad has that dtype."""
    try:
        return bool(dtype_to_tracegrad(dtype))
    except Absent:
        return False


def _strided(tensor: torch.Tensor) -> np.ndarray:
    """The numbers in memory of their own, with the tensor's strides."""
    if tensor.is_contiguous() or not tensor.numel():
        return tensor.clone().numpy(force=True)  # PyTorch does not resize what numpy has seen
    array = tensor.numpy(force=True)
    last = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)) // array.itemsize
    memory = np.lib.stride_tricks.as_strided(array, (last + 1,), (array.itemsize,)).copy()
    return np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)


def numbers(tensor: Any) -> np.ndarray:
    """The numbers of a tensor of either library; bfloat16 as float32."""
    plain = tensor.detach()
    if plain.dtype is torch.complex32:
        raise Absent("complex32")
    if str(plain.dtype).endswith("bfloat16"):
        plain = plain.float()
    if isinstance(plain, torch.Tensor):
        return plain.numpy(force=True)  # conjugate views and tensors of zeros without memory, too
    return plain.numpy(force=True)  # conjugates, too


def is_tensor(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, tg.Tensor))


def tensors_in(value: Any) -> list[Any]:
    """The tensors of either library in nested containers, in order."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for item in value for x in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def replaced(value: Any, replace: Any) -> Any:
    """`value` with ``replace(tensor)`` for each tensor in it."""
    if is_tensor(value):
        return replace(value)
    if isinstance(value, dict):
        return {key: replaced(item, replace) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [replaced(item, replace) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


class Sample:
    """One sample of the database, for both libraries."""

    def __init__(self, sample: Any) -> None:
        self.torch_args = (sample.input, *sample.args)
        self.torch_kwargs = sample.kwargs
        memo: dict[Any, Any] = {}
        self.args = tuple(to_tracegrad(arg, memo) for arg in self.torch_args)
        self.kwargs = {name: to_tracegrad(arg, memo) for name, arg in sample.kwargs.items()}
        self.torch_processed = sample.output_process_fn_grad
        self._processed: Any = None
        self.cotangents: list[Any] = []  # for a result's gradients, made once

    def processing(self) -> Any:
        """What makes of tracegrad's result that which the database wants compared (singular vectors without signs)."""
        if self._processed is None:
            self._processed = counterpart(self.torch_processed)
        return self._processed

    def processed(self, result: Any) -> Any:
        """tracegrad's result as the database wants it compared."""
        return self.processing()(result)

    def __str__(self) -> str:
        parts = [short(arg) for arg in self.torch_args]
        parts += [f"{name}={short(arg)}" for name, arg in self.torch_kwargs.items()]
        return f"({', '.join(parts)})"


def short(value: Any) -> str:
    """A value in a few words: tensors by dtype and shape."""
    if is_tensor(value):
        layout = "" if not value.numel() or value.is_contiguous() else f" strides {tuple(value.stride())}"
        content = f" = {value.item()}" if value.ndim == 0 and value.numel() else ""
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}{layout}{content}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(short, value))}]"
    return repr(value)[:60]
