"""The cross entropy of the scores that a linear map gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...tensors.composite import whole
from ..class_losses import cross_entropy
from ..linear_algebra import linear

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _check(input: Any, weight: Any, bias: Any) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")
    if weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, (N, "
            f"{input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )


@whole
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    `input` is [batch, features] or [features], `linear_weight` [classes, *, features], `target` as `cross_entropy`
    takes it. RuntimeError for shapes that do not fit together and for an `ignore_index` beside probabilities,
    NotImplementedError for `options`: what PyTorch's say of memory is up to the compiler (`memory_limit`) here.

    >>> import tracegrad as tg
    >>> tg.nn.functional.linear_cross_entropy(tg.ones(1, 3), tg.zeros(2, 3), tg.tensor([1]))
    tensor(0.6931)
    """
    if options is not None:
        raise NotImplementedError("linear_cross_entropy: there are no options here; leave `options` out")
    _check(input, linear_weight, linear_bias)
    outer = tuple(linear_weight.shape[:-1])
    if target.shape == (*input.shape[:-1], *outer) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    rows = linear_weight.reshape(math.prod(outer), input.shape[-1])
    scores = linear(input, rows, None if linear_bias is None else linear_bias.reshape(math.prod(outer)))
    return cross_entropy(
        scores.reshape(*input.shape[:-1], *outer),
        target,
        weight=weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
