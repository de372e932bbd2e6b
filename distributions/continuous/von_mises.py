"""``VonMises``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.selecting import where
from ...ops.arithmetic import sign
from ...ops.elementary import log, sqrt
from ...ops.elementwise.special import i0e, i1e
from ...ops.trigonometry import acos, cos
from ...ops.types import bool_, float64
from ...tape.grad_mode import no_grad
from ...tensors import random as draws
from ...tensors.creation import zeros
from .. import constraints
from ..distribution import Distribution

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class VonMises(Distribution):
    """Angles in radians with density proportional to ``exp(concentration cos(x - loc))``.

    The density's ``log I0`` is computed from PyTorch's ``i0e``, to the last digits of the dtype; PyTorch uses
    polynomials that are right to 1e-7.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.VonMises(tg.tensor(0.0), tg.tensor(1.0)).log_prob(tg.tensor(0.0))
        tensor(-1.0738)
    """

    arg_constraints: Any = {"loc": constraints.real, "concentration": constraints.positive}
    loc: Any
    concentration: Any
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance, ``1 - I1 / I0``."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def _log_density(self, value: Tensor) -> Tensor:
        c = self.concentration
        return c * cos(value - self.loc) - math.log(2 * math.pi) - (log(i0e(c)) + c)

    def _proposal_r(self) -> Any:
        """What the wrapped Cauchy numbers of Best and Fisher depend on, in float64 (a series where it would cancel)."""
        kappa = self.concentration.to(float64)
        tau = 1 + sqrt(1 + 4 * kappa**2)
        rho = (tau - sqrt(2 * tau)) / (2 * kappa)
        return where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Angles in [-pi, pi), by rejection (Best and Fisher, "Efficient simulation of the von Mises distribution",
        1979): compiled functions are re-recorded."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            r, kappa = self._proposal_r(), self.concentration.to(float64)
            angles = zeros(shape, dtype=float64)
            done = zeros(shape, dtype=bool_)
            while not done.all():
                u1, u2, u3 = draws.rand((3, *shape), float64).unbind()
                z = cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | (log(c / u2) + 1 - c >= 0)
                angles = where(accepted, sign(u3 - 0.5) * acos(f), angles)
                done = done | accepted
            turned = (angles + math.pi + self.loc.to(float64)) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)
