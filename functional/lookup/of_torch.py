"""Look-ups with the arguments that they have at PyTorch's top level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import layers

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of ``weight [rows, features]`` at the positions `indices`: ``[*indices.shape, features]``.

    `nn.functional.embedding` with its first two arguments the other way round, which tells types and errors; a negative
    `padding_idx` is none.

    >>> import tracegrad as tg
    >>> tg.embedding(tg.tensor([[1., 2.], [3., 4.]]), tg.tensor([1, 0]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    padding = padding_idx if padding_idx >= 0 else None
    return layers.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
