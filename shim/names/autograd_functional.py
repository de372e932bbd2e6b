"""Names of ``torch.autograd.functional`` that programs read beside its functions."""

from __future__ import annotations

from collections.abc import Sequence

from ...tensors.tensor import Tensor
from .vmap_internals import _vmap

__all__ = ["_construct_standard_basis_for", "_vmap"]


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """The columns of an identity matrix, as many for each tensor as it has elements, and of its type."""
    assert len(tensors) == len(tensor_numels), "Expected tensors and tensor_numels to have the same length"
    assert tensors, "Expected at least one tensor"
    rows, first = sum(tensor_numels), 0
    chunks = []
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        chunk = tensor.new_zeros(rows, count)
        chunk.diagonal(-first).fill_(1)
        chunks.append(chunk)
        first += count
    return tuple(chunks)
