"""One step of each kind of recurrent layer, written in primitives: the body of the loop over time, and the cells.

Each takes the carried states, what the input contributes (all gates side by side), and the constants; see `scan`.
"""

from __future__ import annotations

from typing import Any

from ...ops.comparison import where
from ...ops.core import current
from ...ops.elementary import sigmoid
from ...ops.movement import slice
from ...ops.pointwise import cast
from ...ops.products import dot as product
from ...ops.trigonometry import tanh
from ...ops.types import float32
from ...tensors.autocasting import lower_precision

Values = list[Any]

dot = lower_precision(product)


def gates(x: Any, count: int) -> Values:
    """`count` equal parts of ``[batch, gates]``."""
    rows, columns = current().type_of(x).shape
    size = columns // count
    return [slice(x, (0, n * size), (rows, (n + 1) * size), (1, 1)) for n in range(count)]


def is_short(x: Any) -> bool:
    """Whether it is of a type that is rounded so often that the order of roundings is seen."""
    return current().type_of(x).dtype.itemsize == 2


def affine(x: Any, weight: Any, bias: Values) -> Any:
    """``x @ weight`` plus the bias, if there is one; rounded once where both are of a short type, as in PyTorch."""
    dtype = current().type_of(x).dtype
    if not bias or not is_short(x) or current().type_of(weight).dtype is not dtype:
        out = dot(x, weight)
        return out + bias[0] if bias else out
    wide = [cast(of, float32) for of in (x, weight, *bias)]
    return cast(product(wide[0], wide[1]) + wide[2], dtype)


def tanh_step(carried: Values, inputs: Values, constants: Values) -> tuple[Values, Values]:
    """``h' = tanh(x + h @ w + b)``; constants are w and, if there is one, b."""
    weight, *bias = constants
    return [tanh(inputs[0] + affine(carried[0], weight, bias))], []


def relu_step(carried: Values, inputs: Values, constants: Values) -> tuple[Values, Values]:
    """``h' = relu(x + h @ w + b)``."""
    weight, *bias = constants
    out = inputs[0] + affine(carried[0], weight, bias)
    return [where(out <= 0, 0, out)], []


def gru_step(carried: Values, inputs: Values, constants: Values) -> tuple[Values, Values]:
    """``h' = (1 - z) * n + z * h``, computed as PyTorch does; gates are r, z, n."""
    weight, *bias = constants
    (h,), (x,) = carried, inputs
    x_r, x_z, x_n = gates(x, 3)
    h_r, h_z, h_n = gates(affine(h, weight, bias), 3)
    reset, update = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    new = tanh(x_n + reset * h_n)
    return [(h - new) * update + new], []


def _lstm(carried: Values, x: Any, weight: Any, bias: Values) -> tuple[Any, Any]:
    h, c = carried
    i, f, g, o = gates(x + affine(h, weight, bias), 4)
    cell = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(cell), cell


def lstm_step(carried: Values, inputs: Values, constants: Values) -> tuple[Values, Values]:
    """``c' = f * c + i * g, h' = o * tanh(c')``; gates are i, f, g, o."""
    weight, *bias = constants
    return [*_lstm(carried, inputs[0], weight, bias)], []


def lstm_projected_step(carried: Values, inputs: Values, constants: Values) -> tuple[Values, Values]:
    """The same with ``h' = (o * tanh(c')) @ w_hr``, the last constant."""
    weight, *bias, projection = constants
    h, c = _lstm(carried, inputs[0], weight, bias)
    return [dot(h, projection), c], []
