"""Random numbers by rejection: Poisson, binomial and gamma numbers, each of as many uniform numbers as it takes.

The recipes are those of PyTorch's CPU generator: W. Hoermann's transformed rejection (PTRS: Insurance: Mathematics and
Economics 12, 1993; BTRD: Journal of Statistical Computation and Simulation 46, 1993), inversion where the mean is below
10, and G. Marsaglia and W. W. Tsang's method for gamma numbers (ACM Transactions on Mathematical Software 26, 2000).
``tg_rejection.h`` has them in C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import NO_GRADIENT, Kernel, bind, current, define
from ..movement import slice
from ..pointwise import cast
from ..random import STATE_SIZE, random_words_primitive
from ..types import Type, float64, int32

#: Before the numbers: the state, then the normal number that is ready and whether there is one.
HEAD = STATE_SIZE + 2

# PyTorch writes these as float32.
THIRD, _SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))


class _Stream:
    """Uniform and normal numbers one by one, from a state."""

    def __init__(self, state: np.ndarray, cached: np.ndarray) -> None:
        self._start = state
        self._ahead = state
        self._numbers: list[float] = []
        self._taken = 0
        self.normal_ready, self.has_normal = float(cached[0]), bool(cached[1])

    def uniform(self) -> float:
        """The next number in [0, 1), of 53 bits."""
        if self._taken == len(self._numbers):
            self._draw_ahead()
        self._taken += 1
        return self._numbers[self._taken - 1]

    def _draw_ahead(self) -> None:
        drawn = random_words_primitive.evaluate(self._ahead, count=2048)
        self._ahead = drawn[:STATE_SIZE]
        words = drawn[STATE_SIZE:].view(np.uint32).astype(np.float64)
        self._numbers += ((words[0::2] % 2**21 * 2.0**32 + words[1::2]) * 2.0**-53).tolist()

    def normal(self) -> float:
        """The next normal number; every second one was made before."""
        if self.has_normal:
            self.has_normal = False
            return self.normal_ready
        angle, radius = 2 * math.pi * self.uniform(), math.sqrt(-2 * math.log1p(-self.uniform()))
        self.normal_ready, self.has_normal = radius * math.sin(angle), True
        return radius * math.cos(angle)

    def head(self) -> np.ndarray:
        """The state after what was taken, and the normal number that is ready."""
        state = random_words_primitive.evaluate(self._start, count=2 * self._taken)[:STATE_SIZE]
        return np.concatenate([state, [self.normal_ready if self.has_normal else 0.0, self.has_normal]])


def _log(x: float) -> float:
    """The logarithm as in C: minus infinity at 0, NaN below."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _pow(x: float, exponent: float) -> float:
    """As in C: infinity where the result is too large."""
    try:
        return math.pow(x, exponent)
    except OverflowError:
        return math.inf


# ------------------------------------------------------------------------------------------------------- the recipes

LARGEST = 2.0**63  # rates and counts from here on have no numbers: NaN


def _poisson(stream: _Stream, rate: float) -> float:
    if not 0 <= rate < LARGEST:
        return math.nan
    if rate >= 10:
        return _large_poisson(stream, rate)
    if rate == 0:
        return 0.0
    count, product, least = 0, stream.uniform(), math.exp(-rate)
    while product > least:
        count += 1
        product *= stream.uniform()
    return float(count)


def _large_poisson(stream: _Stream, rate: float) -> float:
    """PTRS."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha, v_r = math.log(1.1239 + 1.1328 / (b - 3.4)), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = stream.uniform() - 0.5, stream.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43) if us else -1
        if us >= 0.07 and v <= v_r:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        left = _log(v) + log_inverse_alpha - math.log(a / (us * us) + b)
        if left <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return float(k)


def _binomial(stream: _Stream, count: float, p: float) -> float:
    if not (0 < count < LARGEST and p > 0):
        return 0.0 if count <= 0 or p <= 0 else math.nan
    if p >= 1:
        return count
    if p > 0.5:
        return count - _fewer(stream, count, 1 - p)
    return _fewer(stream, count, p)


def _fewer(stream: _Stream, count: float, p: float) -> float:
    return _many_successes(stream, count, p) if count * p >= 10 else _few_successes(stream, count, p)


def _few_successes(stream: _Stream, count: float, p: float) -> float:
    """How many geometric numbers fit into `count`."""
    trials, successes, log_q = 0.0, 0, math.log1p(-p)
    while True:
        u = stream.uniform()
        trials += math.ceil(math.log(u) / log_q) if u else math.inf
        if trials > count:
            return float(successes)
        successes += 1


_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: float) -> float:
    """What Stirling's formula leaves of log(k!)."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _many_successes(stream: _Stream, count: float, p: float) -> float:
    """BTRS."""
    deviation = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c, v_r, r = count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    alpha, m = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * p)
    while True:
        u, v = stream.uniform() - 0.5, stream.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c) if us else -1
        if us >= 0.07 and v <= v_r:
            return float(k)
        if k < 0 or k > count:
            continue
        bound = (m + 0.5) * math.log((m + 1) / (r * (count - m + 1)))
        bound += (count + 1) * math.log((count - m + 1) / (count - k + 1))
        bound += (k + 0.5) * math.log(r * (count - k + 1) / (k + 1))
        bound += _stirling_tail(m) + _stirling_tail(count - m) - _stirling_tail(k) - _stirling_tail(count - k)
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return float(k)


def _gamma(stream: _Stream, d: float, exponent: float) -> float:
    """The gamma number for the shape parameter d + 1 / 3 times a power of a uniform number; 0 for d = 0."""
    if not 0 < d < math.inf:
        return 0.0 if d == 0 else math.nan
    scale = _pow(1 - stream.uniform(), exponent) if exponent else 1.0
    c = 1 / math.sqrt(9 * d)
    while True:
        y = 0.0
        while y <= 0:
            x = stream.normal()
            y = 1 + c * x
        v, u, square = y * y * y, 1 - stream.uniform(), x * x
        if u < 1 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


# ------------------------------------------------------------------------------------------------------ primitives


def _type(state: Type, cached: Type, *parameters: Type) -> Type:
    kinds = [(state.dtype, state.shape), (cached.dtype, cached.shape)]
    if kinds != [(int32, (STATE_SIZE,)), (float64, (2,))] or any(x.dtype is not float64 for x in parameters):
        raise TypeError(f"draws take i32[{STATE_SIZE}], f64[2] and rows of f64, got {state}, {cached}, {parameters}")
    return Type(float64, (HEAD + parameters[0].size,))


def _define(name: str, parameters: tuple[str, ...], draw: Callable[..., float]) -> Callable[..., Any]:
    def evaluate(state: np.ndarray, cached: np.ndarray, *rows: np.ndarray) -> np.ndarray:
        stream = _Stream(state, cached)
        drawn = [draw(stream, *row) for row in zip(*(x.tolist() for x in rows), strict=True)]
        return np.concatenate([stream.head(), drawn])

    inputs = ("state", "cached", *parameters)
    primitive = define(name, inputs, type=_type, eval=evaluate, lower=Kernel(name), vjp=NO_GRADIENT)

    def op(state: Any, cached: Any, *rows: Any) -> tuple[Any, Any, Any]:
        """The new state, what is ready, and the numbers, for rows of parameters in float64."""
        drawn = bind(primitive, state, cached, *rows)
        size = current().type_of(drawn).size
        head = cast(_part(drawn, 0, STATE_SIZE), int32)
        return head, _part(drawn, STATE_SIZE, HEAD), _part(drawn, HEAD, size)

    op.__name__ = op.__qualname__ = name
    return op


def _part(x: Any, start: int, stop: int) -> Any:
    return slice(x, (start,), (stop,), (1,))


random_poisson = _define("random_poisson", ("rates",), _poisson)
random_binomial = _define("random_binomial", ("counts", "shares"), _binomial)
random_gamma = _define("random_gamma", ("ds", "exponents"), _gamma)
