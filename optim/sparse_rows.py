"""Steps with sparse gradients: what is written at the places of their values only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..functional.places.index_writes import index_add
from ..functional.sparse.sparse_tensor import SparseTensor, existence
from ..functional.sparse.structure import at_rows, coalesce, positions, zeros_like
from ..ops.array import require_writable
from ..ops.core import switch
from ..tensors.tensor import Tensor
from .state import store


def has_sparse_gradients(groups: Iterable[dict[str, Any]]) -> bool:
    """Whether a gradient of the parameters in an optimizer's groups is sparse."""
    if not existence.begun:
        return False
    return SparseTensor in {type(p._grad) for group in groups for p in dict.__getitem__(group, "params")}


def without_places(gradient: SparseTensor) -> SparseTensor:
    """A sparse gradient of zeros."""
    return zeros_like(gradient)


class Rows:
    """The places of a coalesced sparse gradient, and its values, one row for each."""

    def __init__(self, gradient: SparseTensor) -> None:
        once = coalesce(gradient)
        self.places, self.values = positions(once), once.stored.detach()
        self.shape = (-1, *once.stored.shape[1:])

    def of(self, dense: Tensor) -> Tensor:
        """What a dense tensor has at the places."""
        rows: Tensor = at_rows(dense.detach().reshape(self.shape), self.places)
        return rows

    def add_to(self, dense: Tensor, values: Any) -> None:
        """Add values, one row for each place, to a dense tensor."""
        if not switch.stack and dense.ndarray.flags.c_contiguous:
            require_writable(dense)
            dense.buffer.version += 1
            dense.ndarray.reshape(self.shape)[self.places.ndarray] += values.ndarray
            return
        flat = dense.detach().reshape(self.shape)
        store(dense, index_add(flat, 0, self.places, values).reshape(dense.shape))
