"""Losses under the names of PyTorch's top level, whose `reduction` is a number: 0 none, 1 mean, 2 sum.

Without one nothing is reduced: so PyTorch's parser of arguments reads their default, which its kernels call the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import losses
from . import ctc, margins, two_classes

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

NONE, MEAN, SUM = range(3)


def _named(reduction: int) -> str:
    """A reduction as the functions of ``nn.functional`` call it; ValueError for another number."""
    if reduction not in (NONE, MEAN, SUM):
        raise ValueError(f"{reduction} is not a valid value for reduction: use 0 (none), 1 (mean) or 2 (sum)")
    return ("none", "mean", "sum")[reduction]


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = NONE,
) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.binary_cross_entropy_with_logits(tg.zeros(2), tg.ones(2), reduction=2)
    tensor(1.3863)
    """
    return two_classes.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_named(reduction), pos_weight=pos_weight
    )


def kl_div(input: Tensor, target: Tensor, reduction: int = NONE, *, log_target: bool = False) -> Tensor:
    """``nn.functional.kl_div``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.kl_div(tg.zeros(2), tg.ones(2), 2)
    tensor(0.)
    """
    return losses.kl_div(input, target, reduction=_named(reduction), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """``nn.functional.poisson_nll_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.poisson_nll_loss(tg.zeros(2), tg.ones(2), True, False, 1e-8, 2)
    tensor(2.)
    """
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_named(reduction))


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """``nn.functional.cosine_embedding_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.cosine_embedding_loss(tg.tensor([[1., 0.]]), tg.tensor([[0., 1.]]), tg.tensor([1]))
    tensor([1.])
    """
    return margins.cosine_embedding_loss(input1, input2, target, margin, reduction=_named(reduction))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = NONE) -> Tensor:
    """``nn.functional.hinge_embedding_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.hinge_embedding_loss(tg.tensor([0.25, 2.0]), tg.tensor([-1, 1]), reduction=0)
    tensor([0.7500, 2.0000])
    """
    return margins.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """``nn.functional.margin_ranking_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.margin_ranking_loss(tg.tensor([1.0]), tg.tensor([3.0]), tg.tensor([1]), reduction=1)
    tensor(2.)
    """
    return margins.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = NONE,
) -> Tensor:
    """``nn.functional.triplet_margin_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.triplet_margin_loss(tg.zeros(1, 2), tg.zeros(1, 2), tg.ones(1, 2), margin=2.0)
    tensor([0.5858])
    """
    return margins.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_named(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = NONE,
    zero_infinity: bool = False,
) -> Tensor:
    """``nn.functional.ctc_loss``, which tells shapes and errors; `reduction` 0, 1 or 2.

    >>> import tracegrad as tg
    >>> tg.ctc_loss(tg.zeros(2, 1, 3), tg.tensor([[1]]), [2], [1], reduction=2)
    tensor(-1.0986)
    """
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _named(reduction), zero_infinity)
