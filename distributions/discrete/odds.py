"""Parameters that may be given as probabilities or as logits, and are computed from each other when asked for."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Size, Tensor
from ..distribution import Distribution
from ..utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def require_one(probs: Any, logits: Any) -> None:
    """ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryOdds(Distribution):
    """Base of distributions whose parameter is one probability, or its logit."""

    @lazy_property
    def logits(self) -> Tensor:
        """``log(probs / (1 - probs))``."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """``sigmoid(logits)``."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Tensor:
        """The one that was given."""
        return vars(self)["probs" if "probs" in vars(self) else "logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    def _set_odds(self, validate_args: bool | None, probs: Any, logits: Any, **others: Any) -> None:
        """Keep one of the two, broadcast with `others`."""
        require_one(probs, logits)
        given = {"logits": logits} if probs is None else {"probs": probs}
        names = [*others, *given]
        tensors = broadcast_all(*others.values(), *given.values())
        vars(self).update(zip(names, tensors, strict=True))
        for name in others:
            vars(self)[name] = vars(self)[name].type_as(tensors[-1])
        Distribution.__init__(self, tensors[-1].shape, validate_args=validate_args)
