"""Affine maps and lookup tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..tape.grad_mode import no_grad
from ..tensors.creation import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike


class Linear(Module):
    """``x @ weight.T + bias`` over the last axis.

    Input [..., in_features], output [..., out_features], both of the parameters' type (RuntimeError for another, and
    for another length). `weight` [out_features, in_features], then `bias` [out_features] (None with ``bias=False``),
    start uniform in ±1 / sqrt(in_features). `dtype` is the default type unless given.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(3, 2)
    >>> layer(tg.ones(5, 3)).shape, layer.weight.shape, layer.bias.shape
    (tracegrad.Size([5, 2]), tracegrad.Size([2, 3]), tracegrad.Size([2]))
    """

    weight: Tensor
    bias: Tensor  # None without one; declared so that programs may use it unasked, as PyTorch's annotations let them

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weight, then the bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """``x1 @ weight[o] @ x2 + bias[o]`` for each output o, over the last axes.

    Inputs [..., in1_features] and [..., in2_features], output [..., out_features], all of the parameters' type.
    `weight` [out_features, in1_features, in2_features], then `bias` [out_features] (None with ``bias=False``), start
    uniform in ±1 / sqrt(in1_features). ValueError for an `in1_features` that is not positive.

    >>> import tracegrad as tg
    >>> tg.nn.Bilinear(2, 3, 4)(tg.ones(5, 2), tg.ones(5, 3)).shape
    tracegrad.Size([5, 4])
    """

    weight: Tensor
    bias: Tensor  # None without one; declared so that programs may use it unasked, as PyTorch's annotations let them

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weight, then the bias."""
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Module):
    """Rows of a table by their numbers: int64 or int32 [...] becomes [..., embedding_dim].

    `weight` [num_embeddings, embedding_dim] starts normal (mean 0, deviation 1). The row `padding_idx` starts as zeros
    and gets no gradient; negative numbers count from the end. `max_norm` scales rows that are looked up down to that
    `norm_type`-norm (default 2.0), in place; `scale_grad_by_freq` divides gradients by how often a row is looked up.
    With `sparse` the gradient of the table is a sparse tensor, for SparseAdam, SGD and Adagrad.

    AssertionError for a `padding_idx` outside of the table, IndexError for a row that is not there.

    >>> import tracegrad as tg
    >>> table = tg.nn.Embedding(4, 2, padding_idx=0)
    >>> table(tg.tensor([[1, 2, 0]])).shape
    tracegrad.Size([1, 3, 2])
    >>> table(tg.tensor([0])).tolist()
    [[0.0, 0.0]]
    """

    weight: Tensor

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx + num_embeddings if padding_idx is not None and padding_idx < 0 else padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is not None and list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype) if _weight is None else _weight
        self.weight = Parameter(table, requires_grad=not _freeze)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An embedding over the memory of a table [rows, columns]; frozen unless told otherwise.

        The other options are those of the class. AssertionError for another number of axes.

        >>> import tracegrad as tg
        >>> table = tg.nn.Embedding.from_pretrained(tg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(tg.tensor(1)), table.weight.requires_grad
        (tensor([3., 4.]), False)
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, _freeze=freeze
        )

    def reset_parameters(self) -> None:
        """Draw the table from N(0, 1); the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                init.zeros_(self.weight[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False}
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)
