"""All formulas, in an order in which each one's callees come before it."""

from . import bessel, error, gamma, logarithms, modified_bessel, pathwise, polynomials
from .language import FORMULAS

__all__ = ["FORMULAS", "bessel", "error", "gamma", "logarithms", "modified_bessel", "pathwise", "polynomials"]
