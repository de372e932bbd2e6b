"""A softmax over many classes, of which the rare ones stand in clusters (Grave et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...functional.joining import cat
from ...functional.places.index_writes import index_copy, index_fill
from ...functional.selecting import gather
from ...tensors.creation import zeros
from ...tensors.tensor import Tensor
from .. import functional as F
from ..containers import ModuleList, Sequential
from ..linear import Linear
from ..module import Module

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probability of each target, and their negative mean: ``(output, loss)`` (Grave et al. 2017).

    The classes below ``cutoffs[0]`` are scored by the `head`, together with one score for each cluster; those from one
    cutoff to the next by the cluster's own layers in `tail`, over `in_features` divided by `div_value` (default 4.0)
    once more for each. Classes are to be numbered from the most frequent on. Input [batch, in_features] and target
    int64 [batch], or without batch; output [batch], loss a scalar. All layers are `Linear`, without biases unless
    `head_bias`. Compiled calls are re-recorded: which rows belong to which cluster is data. ValueError for cutoffs that
    are not increasing between 1 and ``n_classes - 1``, RuntimeError for targets that are no classes.

    >>> import tracegrad as tg
    >>> layer = tg.nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs=[4])
    >>> output, loss = layer(tg.zeros(3, 8), tg.tensor([0, 3, 9]))
    >>> output.shape, loss.shape, layer.log_prob(tg.zeros(3, 8)).shape
    (tracegrad.Size([3]), tracegrad.Size([]), tracegrad.Size([3, 10]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        found = list(cutoffs)
        _check_cutoffs(found, n_classes)
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*found, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        of: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **of)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(in_features, hidden, bias=False, **of), Linear(hidden, size, bias=False, **of))
            )

    def reset_parameters(self) -> None:
        """Draw all layers again."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        _check_target(input_, target_)
        input, target = (input_, target_) if target_.ndim else (input_.unsqueeze(0), target_.unsqueeze(0))
        within, places = self._by_cluster(input, target)
        head = F.log_softmax(self.head(input), dim=1)
        output = within + gather(head, 1, places.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if target_.ndim else output.squeeze(0), loss)

    def _by_cluster(self, input: Any, target: Any) -> tuple[Any, Any]:
        """The log probability of each target within its cluster, and which score of the head it goes with."""
        used, batch = 0, target.shape[0]
        within = zeros(batch, dtype=input.dtype)
        places = zeros(batch, dtype=target.dtype)
        for i, (low, high) in enumerate(zip([0, *self.cutoffs[:-1]], self.cutoffs, strict=True)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if not rows.numel():
                continue
            if i == 0:
                places = index_copy(places, 0, rows, target[rows])
            else:
                places = index_fill(places, 0, rows, self.shortlist_size + i - 1)
                log = F.log_softmax(self.tail[i - 1](input[rows]), dim=1)
                own = gather(log, 1, (target[rows] - low).unsqueeze(1)).squeeze(1)
                within = index_copy(within, 0, rows, own)
            used += rows.numel()
        if used != batch:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        return within, places

    def _all_log_probabilities(self, input: Any, head_output: Any) -> Any:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            own = F.log_softmax(self.tail[i](input), dim=1)
            parts.append(own + head[:, self.shortlist_size + i].unsqueeze(1))
        return cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes: [batch, in_features] gives [batch, n_classes]."""
        return self._all_log_probabilities(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row: [batch, in_features] gives int64 [batch]."""
        head_output = self.head(input)
        found = head_output.argmax(dim=1)
        rows = (found >= self.shortlist_size).nonzero().squeeze(1)
        if not rows.numel():
            return found
        log = self._all_log_probabilities(input[rows], head_output[rows])
        return index_copy(found, 0, rows, log.argmax(dim=1))


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    is_increasing = all(a < b for a, b in zip(cutoffs, cutoffs[1:], strict=False))
    if not is_increasing or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
            "is between 1 and n_classes-1"
        )


def _check_target(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with size "
            f"{input.shape}"
        )
