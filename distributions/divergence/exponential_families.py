"""The divergence of two distributions of one exponential family, by the Bregman divergence of its log normaliser."""

from __future__ import annotations

from typing import Any

from ..exponential_family import ExponentialFamily, normalizer_slopes
from ..utils import sum_rightmost
from .registry import register_kl


@register_kl(ExponentialFamily, ExponentialFamily)
def _bregman(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    of_p, slopes, at_p = normalizer_slopes(p)
    of_q = q._natural_params
    divergence = q._log_normalizer(*of_q) - at_p
    for mine, others, slope in zip(of_p, of_q, slopes, strict=True):
        divergence = divergence - sum_rightmost((others - mine) * slope, mine.dim() - len(p.batch_shape))
    return divergence
