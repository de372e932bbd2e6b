"""Dirichlet numbers with their derivative; the other draws as they are."""

from __future__ import annotations

from typing import Any

from ..autograd.function import Operation
from ..functional.elementwise.draws import _sample_dirichlet, _standard_gamma, binomial, poisson
from ..ops.elementwise.special import dirichlet_grad

__all__ = ["binomial", "dirichlet", "poisson", "standard_gamma"]

standard_gamma = _standard_gamma


class _Dirichlet(Operation):
    """Shares x of concentrations a: ``dx_j / da_i = d_i (delta_ij - x_j)``, where d_i is how the i-th moves with a_i.

    Jankowiak and Obermeyer, "Pathwise derivatives beyond the reparameterization trick", 2018.
    """

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = _sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand(concentration.shape)
        return dirichlet_grad(x, concentration, total) * (g - (x * g).sum(-1, True))


def dirichlet(concentration: Any) -> Any:
    """Shares that sum to 1 along the last axis; their gradient is implicit, of first order as in PyTorch.

    >>> import tracegrad as tg
    >>> round(tg.distributions.draws.dirichlet(tg.ones(3)).sum().item(), 5)
    1.0
    """
    return _Dirichlet.apply(concentration)
