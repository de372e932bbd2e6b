"""How large initial weights are: by the layer's inputs and outputs, and by the activation behind it."""

from __future__ import annotations

import math

from ..tensors.tensor import Tensor

_GAINS = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = {"linear", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3))}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much initial weights are larger before a `nonlinearity`, so that the variance stays from layer to layer.

    1 for "linear", "sigmoid" and "conv1d" ..., 5/3 for "tanh", sqrt(2) for "relu", 3/4 for "selu", and ``sqrt(2 / (1 +
    param ** 2))`` for "leaky_relu", where `param` is its slope (0.01 unless given). ValueError for other names, and for
    a slope that is no number.

    >>> import tracegrad as tg
    >>> round(tg.nn.init.calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach one output of a weight ``[out, in, ...]``, and how many outputs one input reaches."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def fan(tensor: Tensor, mode: str) -> int:
    """The one of them that `mode`, "fan_in" or "fan_out", names. ValueError for another word."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out
