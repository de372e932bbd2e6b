"""Random numbers for parameters in tensors: Poisson, binomial, gamma and Dirichlet numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...autograd.function import Operation
from ...ops.elementwise.special import dirichlet_grad, standard_gamma_grad
from ...tape.tangents import is_differentiated
from ...tensors import rejection as draws
from ...tensors.composite import relabel
from ...tensors.tensor import Tensor
from ..checks.derivatives import refusing_derivatives

if TYPE_CHECKING:
    from ...tensors.generator import Generator


class _Zero(Operation):
    """Numbers that do not move with their parameter."""

    @staticmethod
    def forward(ctx: Any, drawn: Any, parameter: Any) -> Any:
        return drawn.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, g * 0


class _Path(Operation):
    """Gamma numbers, which move with their parameter as `standard_gamma_grad` says."""

    @staticmethod
    def forward(ctx: Any, drawn: Any, alpha: Any) -> Any:
        ctx.save_for_backward(drawn, alpha)
        return drawn.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        drawn, alpha = ctx.saved_tensors
        return None, g * standard_gamma_grad(alpha, drawn)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """A Poisson number for each rate in `input`, of its shape and floating type; PyTorch's numbers for the same seed.

    RuntimeError for a negative rate. The gradient is zero.

    >>> import tracegrad as tg
    >>> _ = tg.manual_seed(0)
    >>> tg.poisson(tg.tensor([0., 1., 50.]))
    tensor([ 0.,  2., 62.])
    """
    drawn = draws.poisson(input, generator)
    if not is_differentiated(input):
        return drawn
    out = _Zero.apply(drawn, input)
    relabel(out, "PoissonBackward0", (input,))
    return out


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed with probability `prob`, floating tensors of one type, which are broadcast.

    PyTorch's numbers for the same seed. Its derivative is not implemented, as in PyTorch.

    >>> import tracegrad as tg
    >>> tg.binomial(tg.tensor([0., 10.]), tg.tensor([0.5, 1.]))
    tensor([ 0., 10.])
    """
    for name, x in (("count", count), ("prob", prob)):
        if not isinstance(x, Tensor):
            raise TypeError(f"binomial(): argument '{name}' must be Tensor, not {type(x).__name__}")
    drawn = draws.binomial(count, prob, generator)
    return refusing_derivatives("binomial: prob", (drawn,), (count, prob), "BinomialBackward0")[0]


def _standard_gamma(input: Tensor, generator: Any = None) -> Any:
    """A gamma number of rate 1 for each shape parameter in `input`; PyTorch's numbers for the same seed.

    Gradients are implicit: how a number moves with its parameter while its cumulative probability stays.

    >>> import tracegrad as tg
    >>> tg._standard_gamma(tg.tensor([0.5, 2.])).shape
    tracegrad.Size([2])
    """
    drawn = draws.standard_gamma(input, generator)
    if not is_differentiated(input):
        return drawn
    out = _Path.apply(drawn, input)
    relabel(out, "StandardGammaBackward0", (input,))
    return out


def _sample_dirichlet(input: Tensor, generator: Any = None) -> Any:
    """Shares that sum to 1 along the last axis, for concentrations in `input`; PyTorch's numbers for the same seed.

    Its derivative is not implemented, as in PyTorch, whose distribution makes one of `_dirichlet_grad`.

    >>> import tracegrad as tg
    >>> round(tg._sample_dirichlet(tg.tensor([0.5, 2., 1.])).sum().item(), 5)
    1.0
    """
    drawn = draws.sample_dirichlet(input, generator)
    return refusing_derivatives("_sample_dirichlet", (drawn,), (input,), "SampleDirichletBackward0")[0]


def _standard_gamma_grad(input: Tensor, output: Tensor) -> Any:
    """How the gamma number `output` moves with its shape parameter `input`, right to 1e-12 (PyTorch's: to 1e-3).

    >>> import tracegrad as tg
    >>> tg._standard_gamma_grad(tg.tensor([1.]), tg.tensor([1.]))
    tensor([1.1736])
    """
    return standard_gamma_grad(input, output)


def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Any:
    """How a share `x` with concentration `alpha` of `total` moves with it, divided by 1 - x.

    >>> import tracegrad as tg
    >>> tg._dirichlet_grad(tg.tensor([0.5]), tg.tensor([1.]), tg.tensor([2.]))
    tensor([0.6931])
    """
    return dirichlet_grad(x, alpha, total)
