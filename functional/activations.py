"""Activations, element by element, and softmax."""

from __future__ import annotations

import math
from typing import Any

from ..ops import arithmetic, elementary, logic, movement
from ..ops import reductions as folds
from ..ops.array import eager
from ..ops.comparison import where
from ..ops.pointwise import cast
from ..ops.trigonometry import tanh as _tanh
from ..ops.types import DType, bool_
from ..tape.grad_mode import no_grad
from ..tensors.arguments import Shape, axes_of, axis_of
from ..tensors.composite import composite, part, relabel
from ..tensors.fusion import fused
from ..tensors.in_place import store
from ..tensors.operands import SCALAR_NAMES
from . import array_forms
from .checks.shapes import check_channels, check_halves


def finished(input: Any, out: Any, inplace: bool, keeps: bool = False) -> Any:
    """`out`, the value of a function of `input`; stored in its memory if `inplace`, where it may be what is kept."""
    if not inplace:
        return out
    node = out.grad_fn
    store(input, out)
    if keeps and node is not None:
        node.keep([input], input)
    return input


#: What most activations keep.
_INPUT = {"input": ("input",)}


def _relu_rule(g: Any, dropped: Any) -> Any:
    return where(eager().literal(dropped), 0, g)


@fused("ReluBackward0", array_forms.relu, array_forms.relu_gradient, rule=_relu_rule, watches_value=True, zero=True)
def _relu(input: Any) -> Any:
    return where(input <= 0, 0, input)


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``; the derivative at 0 is 0, NaN stays NaN."""
    if input.dtype is bool_:
        raise RuntimeError("Boolean inputs not supported for relu. Convert them first, e.g. with .float().")
    return finished(input, _relu(input), inplace)


@part
@composite("LeakyReluBackward0", _INPUT, zero=True)
def _leaky_relu(input: Any, slope: float) -> Any:
    return where(input > 0, input, input * slope)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``negative_slope * input``."""
    out = _leaky_relu(input, negative_slope)
    return finished(input, out, inplace, keeps=True)


def prelu(input: Any, weight: Any) -> Any:
    """`input` where it is positive, else times `weight`: one number, or one for each channel (axis 1)."""
    if weight.dtype is not input.dtype:
        got = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {got}; use .to()")
    check_channels(input, weight)
    if weight.numel() > 1:
        weight = weight.reshape(-1, *(1,) * (input.ndim - 2))
    return _prelu(input, weight)


@composite("PreluKernelBackward0", {"input": ("input", "weight"), "weight": ("input", "weight")}, zero=True)
def _prelu(input: Any, weight: Any) -> Any:
    return where(input > 0, input, input * weight)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return finished(input, elementary.elu(input, alpha, 1.0, 1.0), inplace, keeps=True)


#: The constants with which layers keep mean 0 and variance 1 (Klambauer et al., 2017).
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def selu(input: Any, inplace: bool = False) -> Any:
    """The self-normalising `elu`."""
    return finished(input, elementary.elu(input, _SELU_ALPHA, _SELU_SCALE, 1.0), inplace, keeps=True)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU; its slope left of 0 is exp(input / alpha)")
    return finished(input, elementary.elu(input, alpha, 1.0, 1 / alpha), inplace, keeps=True)


@fused("GeluBackward0", array_forms.gelu, array_forms.gelu_gradient, watched={0: (0,)})
def _gelu(input: Any) -> Any:
    return input * 0.5 * (1 + elementary.erf(input * math.sqrt(0.5)))


@fused("GeluBackward0", array_forms.gelu_tanh, array_forms.gelu_tanh_gradient, checked={0: (0,)})
def _gelu_tanh(input: Any) -> Any:
    inner = math.sqrt(2 / math.pi) * (input + 0.044715 * (input * input * input))
    return 0.5 * input * (1 + _tanh(inner))


def gelu(input: Any, *, approximate: str = "none") -> Any:
    """`input` times the normal distribution function at `input`; "tanh" takes the usual approximation."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return _gelu(input) if approximate == "none" else _gelu_tanh(input)


@fused("SiluBackward0", array_forms.silu, array_forms.silu_gradient, checked={0: (0,)})
def _silu(input: Any) -> Any:
    return input * elementary.sigmoid(input)


def silu(input: Any, inplace: bool = False) -> Any:
    """``input * sigmoid(input)``."""
    return finished(input, _silu(input), inplace)


@composite("SoftplusBackward0", _INPUT)
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """``log(1 + exp(beta * input)) / beta``; `input` itself where ``beta * input`` is above `threshold`."""
    scaled = input if beta == 1 else input * beta
    large = scaled > threshold
    curve = elementary.log1p(elementary.exp(where(large, 0, scaled)))
    return where(large, input, curve if beta == 1 else curve / beta)


def logsigmoid(input: Any) -> Any:
    """``log(sigmoid(input))`` without overflow."""
    return elementary.log_sigmoid(input)


@composite("HardtanhBackward0", _INPUT, zero=True)
def _hardtanh(input: Any, low: float, high: float) -> Any:
    with no_grad():
        bounded = arithmetic.minimum(arithmetic.maximum(input, low), high)
    return where(logic.logical_or(input <= low, input >= high), bounded, input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """`input` kept between the bounds; the gradient passes strictly inside only."""
    if input.dtype is bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh. Convert them first, e.g. with .float().")
    if not input.dtype.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
    out = _hardtanh(input, min_val, max_val)
    return finished(input, out, inplace)


def relu6(input: Any, inplace: bool = False) -> Any:
    """`input` kept between 0 and 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """``(input + 3) / 6`` kept between 0 and 1."""
    return finished(input, _hardsigmoid(input), inplace)


@composite("HardsigmoidBackward0", _INPUT)
def _hardsigmoid(input: Any) -> Any:
    with no_grad():
        bounded = arithmetic.minimum(arithmetic.maximum(input + 3, 0), 6) / 6
    return where(logic.logical_and(input > -3, input < 3), input / 6 + 0.5, bounded)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """``input * hardsigmoid(input)``."""
    return finished(input, elementary.hardswish(input), inplace)


@composite("MishBackward0")
def mish(input: Any, inplace: bool = False) -> Any:
    """``input * tanh(softplus(input))``."""
    out = input * _tanh(softplus(input))
    return finished(input, out, inplace)


def softsign(input: Any) -> Any:
    """``input / (1 + |input|)``."""
    return input / (1 + arithmetic.abs(input))


def tanhshrink(input: Any) -> Any:
    """``input - tanh(input)``."""
    return input - _tanh(input)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """`input` where it is above `threshold`, else `value`."""
    return finished(input, _threshold(input, threshold, value), inplace)


@composite("ThresholdBackward0", _INPUT, zero=True)
def _threshold(input: Any, threshold: float, value: float) -> Any:
    return where(input <= threshold, value, input)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along `dim` times the sigmoid of the second."""
    check_halves(input, axis_of(dim, input.ndarray.ndim))
    first, second = input.chunk(2, dim)
    return first * elementary.sigmoid(second)


# --------------------------------------------------------------------------------------------------------- softmax


def _kept_sum(x: Any, axes: Shape) -> Any:
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.ndarray.shape))
    return movement.reshape(folds.sum(x, axes), shape)


def _shifted(input: Any, axes: Shape) -> Any:
    """`input` minus its largest element: the same softmax, for which the shift counts as a constant."""
    if not input.ndarray.size:
        return input
    with no_grad():
        shape = tuple(1 if axis in axes else n for axis, n in enumerate(input.ndarray.shape))
        top = movement.reshape(folds.amax(input, axes), shape)
    return input - top


def _implicit_dim(ndim: int) -> int:
    return 0 if ndim in (0, 1, 3) else 1


def _prepared(input: Any, dim: int | None, dtype: DType | None, name: str = "softmax") -> tuple[Any, Shape]:
    x = input if dtype is None or input.dtype is dtype else cast(input, dtype)
    if not x.dtype.is_floating_point:
        got = SCALAR_NAMES[input.dtype.name]
        raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{got}'; call .float()")
    return x, axes_of(_implicit_dim(x.ndim) if dim is None else dim, x.ndarray.ndim)


@fused("SoftmaxBackward0", array_forms.softmax, array_forms.softmax_gradient, checks_value=True)
def _softmax(x: Any, axes: Shape) -> Any:
    raised = elementary.exp(_shifted(x, axes))
    return raised / _kept_sum(raised, axes)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
    """``exp(input)`` divided by its sum along `dim`."""
    x, axes = _prepared(input, dim, dtype)
    out = _softmax(x, axes)
    if x is not input:
        relabel(out, "SoftmaxBackward0", (input,))
    return out


@fused("LogSoftmaxBackward0", array_forms.log_softmax, array_forms.log_softmax_gradient, watches_value=True)
def _log_softmax(x: Any, axes: Shape) -> Any:
    shifted = _shifted(x, axes)
    return shifted - elementary.log(_kept_sum(elementary.exp(shifted), axes))


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
    """The logarithm of `softmax`, without overflow."""
    x, axes = _prepared(input, dim, dtype, "log_softmax")
    out = _log_softmax(x, axes)
    if x is not input:
        relabel(out, "LogSoftmaxBackward0", (input,))
    return out


def softmin(input: Any, dim: int | None = None, dtype: DType | None = None) -> Any:
    """`softmax` of ``-input``."""
    return softmax(-input, dim, dtype=dtype)
