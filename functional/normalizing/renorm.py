"""Parts of a tensor shrunk to a largest norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.comparison import where
from ...ops.movement import by_rows
from ...tensors.arguments import axis_of
from ...tensors.composite import composite
from ...tensors.short_floats import rounded_once
from ..reductions import norm
from ..shapes import contiguous

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


@rounded_once
@composite("RenormBackward0", {"input": ("input",)})
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """`input`, whose parts along `dim` are shrunk to the p-norm `maxnorm` where theirs is larger.

    RuntimeError for fewer than two axes, for `p` that is not positive, and for a negative `maxnorm`.

    >>> import tracegrad as tg
    >>> tg.renorm(tg.tensor([[3., 4.], [0.5, 0.]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.5000, 0.0000]])
    """
    ndim = input.ndarray.ndim
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    axis = axis_of(dim, ndim)
    size = norm(input, p, tuple(a for a in range(ndim) if a != axis), True)
    # The small number is PyTorch's.
    return contiguous(by_rows(input * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)))
