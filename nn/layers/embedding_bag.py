"""Tables whose rows are looked up many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tape.grad_mode import no_grad
from ...tensors.creation import empty
from ...tensors.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class EmbeddingBag(Module):
    """The sum, mean or maximum of the rows of each bag of numbers, without the rows in between:
    ``nn.functional.embedding_bag``.

    Input int64 or int32 [bags, length], or [numbers] with `offsets` [bags], where each bag begins (with
    `include_last_offset` also where the last one ends); output [bags, embedding_dim]. `mode` is "mean" (default), "sum"
    or "max"; `per_sample_weights`, of the input's shape, multiply rows of a sum. Empty bags give zeros.

    `weight` [num_embeddings, embedding_dim] starts normal (mean 0, deviation 1); the row `padding_idx` starts as zeros,
    does not count and gets no gradient. `max_norm`, `norm_type`, `scale_grad_by_freq` and `sparse` are those of
    `Embedding`. AssertionError for a `padding_idx` outside of the table and for a `_weight` of another shape.

    >>> import tracegrad as tg
    >>> bags = tg.nn.EmbeddingBag.from_pretrained(tg.tensor([[1.0], [10.0], [100.0]]), mode="sum")
    >>> bags(tg.tensor([0, 1, 1, 2]), tg.tensor([0, 3]))
    tensor([[ 21.],
            [100.]])
    """

    weight: Tensor

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and padding_idx and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("padding_idx must be within num_embeddings")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.padding_idx = padding_idx + num_embeddings if padding_idx is not None and padding_idx < 0 else padding_idx
        if _weight is not None and list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype) if _weight is None else _weight
        self.weight = Parameter(table)
        if _weight is None:
            self.reset_parameters()
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer over the memory of a table [rows, columns]; frozen unless told otherwise.

        The other options are those of the class. AssertionError for another number of axes.

        >>> import tracegrad as tg
        >>> table = tg.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> tg.nn.EmbeddingBag.from_pretrained(table)(tg.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset,
            padding_idx,
        )  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made

    def reset_parameters(self) -> None:
        """Draw the table from N(0, 1); the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                init.zeros_(self.weight[self.padding_idx])

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": "", "padding_idx": None}
        parts += [f"{name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)
