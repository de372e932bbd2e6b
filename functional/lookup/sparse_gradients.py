"""Rows of a table whose gradient is a sparse tensor: the places that were looked up, and a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import indexing
from ...ops.array import eager
from ...tape.grad_mode import is_recording
from ...tape.nodes import SECOND_BACKWARD, AccumulateGrad, Edge, Node
from ...tape.saved import saved
from ...tape.tangents import alias_of
from ...tensors.creation import from_numpy
from ...tracing.watch import forbid, watcher
from ..sparse.sparse_tensor import SparseTensor
from ..sparse.structure import at_rows, to_dense

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def sparse_rows(weight: Tensor, places: Tensor, padding: int | None = None, by_freq: bool = False) -> Tensor:
    """The rows of `weight` at `places`; its gradient is sparse, without the row `padding`.

    A `weight` that is computed of others gets a dense gradient, which has the same numbers. With `by_freq` the gradient
    raises RuntimeError, as PyTorch's does.
    """
    if not (weight.requires_grad and is_recording()):
        return indexing.take(weight, places)
    forbid("a lookup with sparse=True", "Its gradient has as many rows as there are places: leave `sparse` out.")
    rows = indexing.take(alias_of(weight), places)
    rows.attach(SparseRowsNode(weight, places, padding, by_freq), 0)
    return rows


class SparseRowsNode(Node):
    """A lookup on the tape that gives its table a sparse gradient."""

    def __init__(self, weight: Any, places: Any, padding: int | None, by_freq: bool) -> None:
        super().__init__("EmbeddingBackward0", (weight.gradient_edge(),))
        self.rename(self.title)
        self.shape, self.padding, self.by_freq = weight.shape, padding, by_freq
        self.places: Any = saved(places, is_output=False)
        listening = watcher()
        if listening is not None:
            self.origin = listening.origin()

    def release(self) -> None:
        self.places = None

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.places is None:
            raise RuntimeError(SECOND_BACKWARD)
        if self.by_freq:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        places = self.places.unpack(self).reshape(-1)
        values = cotangents[0].reshape(-1, *self.shape[1:])
        if self.padding is not None:
            numbers = eager().read(places.detach(), "a sparse gradient beside a padding row")
            kept = from_numpy(np.flatnonzero(numbers != self.padding).astype(np.int64))
            places, values = at_rows(places, kept), at_rows(values, kept)
        gradient = SparseTensor(places.detach().reshape(1, -1), values, self.shape)
        return [gradient if _is_leaf(self.edges[0]) else to_dense(gradient)]


def _is_leaf(edge: Edge) -> bool:
    return isinstance(edge.node, AccumulateGrad)
