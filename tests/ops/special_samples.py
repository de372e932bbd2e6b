"""Operands for special functions and for functions of how numbers are made; UNARY and BINARY as in `samples`."""

from __future__ import annotations

from cases import DTYPES, FLOATS, Operand

from tracegrad.ops.elementwise.special import POLYNOMIALS
from tracegrad.ops.types import INTEGER, DType


def _between(low: float, high: float) -> Operand:
    return Operand((), low, high)


_ANY, _POSITIVE, _WHOLE = _between(-3, 3), _between(0.3, 4), tuple(d for d in DTYPES if d.category == INTEGER)
# With a whole number in it, so that integers can be drawn too.
_SHARE = _between(0.1, 1.0)

UNARY: dict[str, tuple[Operand, tuple[DType, ...]]] = {
    "lgamma": (_between(0.3, 9), FLOATS), "digamma": (_between(0.3, 12), FLOATS),
    "trigamma": (_between(0.4, 12), FLOATS),
    "erfc": (_ANY, FLOATS), "erfcx": (_between(-1, 3), FLOATS), "erfinv": (_between(-0.9, 0.9), FLOATS),
    "ndtr": (_ANY, FLOATS), "log_ndtr": (_ANY, FLOATS), "ndtri": (_SHARE, FLOATS),
    "i0": (_ANY, FLOATS), "i0e": (_ANY, FLOATS), "i1": (_ANY, FLOATS), "i1e": (_ANY, FLOATS),
    "entr": (_POSITIVE, FLOATS), "logit": (_SHARE, FLOATS), "sinc": (_ANY, FLOATS),
    "exp2": (_ANY, FLOATS), "signbit": (_ANY, FLOATS),
    "frexp_mantissa": (_ANY, FLOATS), "frexp_exponent": (_ANY, FLOATS),
}  # fmt: skip
BINARY: dict[str, tuple[Operand, Operand, tuple[DType, ...]]] = {
    "xlog1py": (_ANY, _POSITIVE, FLOATS), "logaddexp2": (_ANY, _ANY, FLOATS), "log_of_sum": (_ANY, _ANY, FLOATS),
    "xlogy": (_ANY, _POSITIVE, FLOATS), "copysign": (_ANY, _ANY, FLOATS),
    "fmax": (_ANY, _ANY, FLOATS), "fmin": (_ANY, _ANY, FLOATS),
    "nextafter": (_ANY, _ANY, FLOATS), "gcd": (_between(-90, 90), _between(-60, 60), _WHOLE),
    "lcm": (_between(0, 11), _between(0, 11), _WHOLE),
}  # fmt: skip
#: Those whose first operand has no derivative.
HALF_DERIVABLE: dict[str, tuple[Operand, Operand, tuple[DType, ...]]] = {
    "zeta": (_between(1.5, 5), _POSITIVE, FLOATS),
    "igamma": (_between(0.5, 4), _POSITIVE, FLOATS), "igammac": (_between(0.5, 4), _POSITIVE, FLOATS),
}  # fmt: skip
#: Those that have no derivative at all, of two or three operands.
UNDERIVABLE: dict[str, tuple[Operand, ...]] = {
    "standard_gamma_grad": (_POSITIVE, _POSITIVE),
    **dict.fromkeys(("bessel_j0", "bessel_j1", "spherical_bessel_j0", "airy_ai"), (_ANY,)),
    **dict.fromkeys(("bessel_y0", "bessel_y1"), (_POSITIVE,)),
    **{f"{scale}modified_bessel_k{order}": (_POSITIVE,) for scale in ("", "scaled_") for order in (0, 1)},
    **{name: (_ANY, _between(-1.4, 9.4)) for name in POLYNOMIALS},
    "dirichlet_grad": (_SHARE, _POSITIVE, _between(4.5, 9)),
}
