"""What a formula is: a function of real numbers, written once, that numpy evaluates and that becomes C.

A formula's body is a Python function of a mathematics `m` and of its operands. It computes with operators,
comparisons, ``&``, ``|`` and ``~``, and with what `m` offers: ``m.exp``, ``m.where``, ``m.polynomial``, ``m.repeat``.
The mathematics of arrays computes at once, that of C (`c_text`) writes down what is to be computed. Both compute in
float64, whatever the operands' type, so that float32 results are right to the last place but for one rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..memory import blocks

Step = Callable[..., tuple[Any, ...]]

#: Where the turns of a loop end, in case an element's condition never does.
MANY = 1 << 14


class Formula:
    """A function of some real numbers, defined by `body`; called within another formula's body."""

    def __init__(self, name: str, body: Callable[..., Any]) -> None:
        self.name = name
        self.body = body
        self.inputs = body.__code__.co_varnames[1 : body.__code__.co_argcount]

    def __call__(self, m: Any, *operands: Any) -> Any:
        return m.call(self, operands)

    def evaluate(self, *operands: np.ndarray) -> np.ndarray:
        """The function of arrays of one floating type, broadcast against each other, in their type."""
        arrays = np.broadcast_arrays(*operands)
        out = np.empty(arrays[0].shape, operands[0].dtype)
        with np.errstate(all="ignore"):
            for *pieces, result in blocks((*map(np.ascontiguousarray, arrays), out)):
                wide = [piece.astype(np.float64).reshape(result.shape) for piece in pieces]
                result[...] = self.body(ARRAYS, *wide)
        return out


FORMULAS: dict[str, Formula] = {}


def formula(body: Callable[..., Any]) -> Formula:
    """Enter a formula under its body's name; those that it calls come before it."""
    made = FORMULAS[body.__name__] = Formula(body.__name__, body)
    return made


class Arrays:
    """The mathematics of numpy's arrays."""

    exp, log, log1p, expm1 = (staticmethod(f) for f in (np.exp, np.log, np.log1p, np.expm1))
    sin, cos, tan, acos, sqrt = (staticmethod(f) for f in (np.sin, np.cos, np.tan, np.arccos, np.sqrt))
    floor, round, trunc, abs = (staticmethod(f) for f in (np.floor, np.rint, np.trunc, np.abs))
    pow, where, copysign = staticmethod(np.power), staticmethod(np.where), staticmethod(np.copysign)

    def call(self, formula: Formula, operands: Sequence[Any]) -> Any:
        """Another formula of `operands`."""
        return formula.body(self, *operands)

    def polynomial(self, coefficients: Sequence[float], x: Any) -> Any:
        """The polynomial with these coefficients, that of the highest power first."""
        value = x * coefficients[0] + coefficients[1]
        for coefficient in coefficients[2:]:
            value *= x
            value += coefficient
        return value

    def chebyshev(self, coefficients: Sequence[float], x: Any) -> Any:
        """The sum of Chebyshev polynomials of x in [-1, 1] by Clenshaw's recurrence, the highest degree first."""
        twice = x + x
        before, last = 0.0, np.full_like(x, coefficients[0])
        for coefficient in coefficients[1:-1]:
            before, last = last, twice * last - before + coefficient
        return x * last - before + coefficients[-1]

    def repeat(self, step: Step, state: Sequence[Any], given: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The state after ``go_on, *state = step(m, k, *state, *given)`` for k = 0, 1, ... as long as `go_on`.

        Only the elements that go on are computed; they are those of arrays in one dimension.
        """
        left = [np.ravel(array) for array in np.broadcast_arrays(*state, *given)]
        shape = np.broadcast_shapes(*(np.shape(array) for array in (*state, *given)))
        values = [np.array(array, np.float64) for array in left[: len(state)]]
        places = np.arange(left[0].size)
        for k in range(MANY):
            if not places.size:
                break
            go_on, *new = step(self, float(k), *left)
            for value, computed in zip(values, new, strict=True):
                value[places] = computed
            going = np.broadcast_to(go_on, places.shape)
            left = [*new, *left[len(new) :]]
            if not going.all():
                places, left = places[going], [np.broadcast_to(x, going.shape)[going] for x in left]
        return tuple(value.reshape(shape) for value in values)


ARRAYS = Arrays()
