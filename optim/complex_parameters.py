"""Complex parameters: optimizers update their real and imaginary parts, each as one number, as PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.complex_numbers.parts import view_as_complex, view_as_real
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries

#: ``update(p, gradient, state)``: one parameter's update, in place.
Update = Callable[[Tensor, Tensor, Entries], Any]


def in_parts(update: Update, p: Tensor, gradient: Tensor, state: Entries) -> None:
    """Do `update` on views of a complex parameter, its gradient and its state; what it adds to the state is complex."""
    parts = Entries({key: _parts(value) for key, value in dict.items(state)})
    update(view_as_real(p), _parts(gradient), parts)
    for key, value in dict.items(parts):
        if not dict.__contains__(state, key):
            state[key] = view_as_complex(value) if isinstance(value, Tensor) and value.ndarray.ndim else value


def _parts(value: Any) -> Any:
    return view_as_real(value) if isinstance(value, Tensor) and value.dtype.is_complex else value


def refuse_complex(optimizer: Any, p: Tensor) -> None:
    """RuntimeError in PyTorch's words for a complex parameter of an optimizer that has no meaning for it."""
    if p.dtype.is_complex:
        raise RuntimeError(
            f"{type(optimizer).__name__} does not support complex parameters; give it view_as_real(p), or another "
            "optimizer"
        )


def interleaved(numbers: np.ndarray) -> np.ndarray:
    """Numbers as one row, complex ones as their real and imaginary parts in turn."""
    flat = np.ascontiguousarray(numbers).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
