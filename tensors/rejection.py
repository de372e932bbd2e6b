"""Drawing Poisson, binomial, gamma and Dirichlet numbers, and those of Cauchy's and the log-normal distribution.

The numbers, and how many words each takes, are those of PyTorch's CPU generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.arithmetic import maximum, minimum
from ..ops.comparison import eq, where
from ..ops.core import current
from ..ops.elementary import exp
from ..ops.movement import broadcast, broadcast_along, reshape
from ..ops.pointwise import cast
from ..ops.reductions import sum
from ..ops.requirements import Requirement, require
from ..ops.sampling.rejection import THIRD, random_binomial, random_gamma, random_poisson
from ..ops.trigonometry import tan
from ..ops.types import DType, broadcast_shapes, float64
from ..tape.grad_mode import no_grad
from .calling.kernels import require_floating
from .generator import Generator, chosen
from .random import Shape, shaped, uniforms

RATES = Requirement(lambda rate: (rate >= 0,), RuntimeError, "invalid Poisson rate, expected rate to be non-negative")


def _drawn(generator: Generator | None, draw: Callable[..., Any], *parameters: Any) -> Any:
    """Numbers in float64 in the shape of the first of the parameters, which have one shape."""
    shape = current().type_of(parameters[0]).shape
    rows = [cast(reshape(x, (math.prod(shape),)), float64) for x in parameters]
    return reshape(chosen(generator).rejected(draw, *rows), shape)


@no_grad()
def poisson(rates: Any, generator: Generator | None = None) -> Any:
    """A Poisson number for each rate, in the rates' floating type."""
    require_floating("poisson_cpu", rates)
    require(rates, RATES)
    return cast(_drawn(generator, random_poisson, rates), rates.dtype)


@no_grad()
def binomial(counts: Any, shares: Any, generator: Generator | None = None) -> Any:
    """How many of `counts` trials succeed, each with probability `shares`; both floating, of one type, broadcast."""
    for name, x in (("count", counts), ("prob", shares)):
        if not x.dtype.is_floating_point:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {x.dtype.title}")
    if counts.dtype is not shares.dtype:
        found, expected = (x.dtype.title for x in (shares, counts))
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    shape = broadcast_shapes(counts.ndarray.shape, shares.ndarray.shape)
    drawn = _drawn(generator, random_binomial, broadcast(counts, shape), broadcast(shares, shape))
    return cast(drawn, counts.dtype)


def _gamma_numbers(generator: Generator | None, alphas: Any) -> Any:
    """In float64. Below 1 the number for alpha + 1 is scaled; these roundings are in the type of `alphas` (PyTorch)."""
    is_small = alphas < 1
    exponents = where(is_small, 1 / where(is_small, alphas, 1.0), 0.0)
    ds = where(eq(alphas, 0), 0.0, where(is_small, alphas + 1, alphas) - THIRD)
    return _drawn(generator, random_gamma, ds, exponents)


def _tiny(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).tiny)


@no_grad()
def standard_gamma(alphas: Any, generator: Generator | None = None) -> Any:
    """A gamma number of rate 1 for each shape parameter, at least the smallest normal number."""
    require_floating("gamma_cpu", alphas)
    drawn = cast(_gamma_numbers(generator, alphas), alphas.dtype)
    return maximum(drawn, _tiny(alphas.dtype))


@no_grad()
def sample_dirichlet(alphas: Any, generator: Generator | None = None) -> Any:
    """Shares along the last axis: gamma numbers divided by their sum, kept within what is above 0 and below 1."""
    require_floating("dirichlet", alphas)
    drawn = _gamma_numbers(generator, cast(alphas, float64))
    last = alphas.ndarray.ndim - 1
    sums = sum(drawn, (last,)) if last >= 0 else drawn
    shares = cast(drawn / (broadcast_along(sums, (last,), drawn.ndarray.shape) if last >= 0 else sums), alphas.dtype)
    largest = float(np.nextafter(alphas.dtype.numpy.type(1), alphas.dtype.numpy.type(0)))
    return minimum(maximum(shares, _tiny(alphas.dtype)), largest)


def cauchy(
    shape: Shape, dtype: DType, median: float, sigma: float, generator: Generator | None, strides: Shape | None = None
) -> Any:
    """Numbers with density 1 / (1 + x**2) around `median` at the scale of `sigma`."""
    if not dtype.is_floating_point:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {_C_NAMES.get(dtype.name, dtype.c_name)}"
        )
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    u = uniforms(generator, shape, float64, strides)
    return cast(median + sigma * tan(math.pi * (u - 0.5)), dtype)


_C_NAMES = {"bool": "bool", "int32": "int", "int64": "long int"}


def log_normal(
    shape: Shape, dtype: DType, mean: float, std: float, generator: Generator | None, strides: Shape | None = None
) -> Any:
    """Exponentials of normal numbers, which are made one by one, however many there are."""
    if math.prod(shape) and not dtype.is_floating_point:
        raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{dtype.title}'")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    drawn = shaped(chosen(generator).normals(math.prod(shape)), shape, strides)
    return cast(exp(drawn * std + mean), dtype)
