"""Activations, element by element, and softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..ops import arithmetic, elementary
from ..ops.array import eager
from ..ops.comparison import where
from ..ops.complex_numbers.refusals import refuse_complex
from ..ops.core import switch
from ..ops.layouts.formats import gradient_as
from ..ops.movement import by_rows
from ..ops.trigonometry import tanh as _tanh
from ..ops.types import bool_, complex64, complex128
from ..tensors.arguments import axis_of
from ..tensors.autocasting import lower_precision
from ..tensors.calling.kernels import OF_OPTIONS
from ..tensors.composite import composite
from ..tensors.fusion import fused
from ..tensors.in_place import store
from ..tensors.short_floats import rounded_once
from ..tracing.watch import unserved
from .checks.derivatives import refusing_negative_slope
from .checks.shapes import check_channels, check_halves
from .forms import activations as forms
from .shapes import contiguous

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def finished(input: Any, out: Any, inplace: bool, keeps: bool = False) -> Any:
    """`out`, the value of a function of `input`; stored in its memory if `inplace`, where it may be what is kept."""
    if not inplace:
        return out
    node = out.grad_fn
    store(input, out)
    if keeps and node is not None:
        node.keep({"out": input}, input)
    return input


#: What most activations keep.
_INPUT = {"input": ("input",)}


def _relu_rule(g: Any, dropped: Any, *_: Any) -> Any:
    return where(eager().literal(dropped), 0, g) if switch.stack else _what_is_kept(g, dropped)


@fused("WhereBackward0", forms.kept, forms.kept_gradient, rule=_relu_rule)
def _what_is_kept(g: Any, dropped: Any) -> Any:
    return where(eager().literal(dropped), 0, g)


@fused("ReluBackward0", forms.relu, forms.relu_gradient, rule=_relu_rule, watches_value=True, zero=True)
def _relu(input: Any) -> Any:
    if not input.ndarray.flags.c_contiguous:
        input = gradient_as(input, input.ndarray)
    return where(input <= 0, 0, input)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``, element by element; the derivative at 0 is 0, NaN stays NaN.

    Shape and type are those of `input`, any but bool (RuntimeError). With `inplace`, the result is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.relu(tg.tensor([-1., 0., 2.]))
    tensor([0., 0., 2.])
    """
    dtype = input.dtype
    if dtype is bool_:
        raise RuntimeError("Boolean inputs not supported for relu. Convert them first, e.g. with .float().")
    if dtype is complex64 or dtype is complex128:
        refuse_complex("relu", dtype)
    return finished(input, unserved(_relu, input), True) if inplace else _relu(input)


def _leaky(input: Any, slope: float) -> Any:
    if not input.ndarray.flags.c_contiguous:
        input = gradient_as(input, input.ndarray)
    return where(input > 0, input, input * slope)


def _leaky_slope(g: Any, wanted: Any, input: Any, slope: float) -> list[Any]:
    return [where(input > 0, g, g * slope)]


_leaky_relu = fused(
    "LeakyReluBackward0",
    forms.leaky_relu,
    forms.leaky_relu_gradient,
    watched={0: (0,)},
    zero=True,
    one_kernel=False,
    derivatives=_leaky_slope,
)(_leaky)
_leaky_relu_by_ops = composite("LeakyReluBackward0", _INPUT, zero=True)(_leaky)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else ``negative_slope * input``.

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.leaky_relu(tg.tensor([-1., 2.]))
    tensor([-0.0100,  2.0000])
    """
    # In place, the nodes of single operations are wanted: each copies what it reads of the memory that is overwritten.
    computed = _leaky_relu_by_ops if inplace else _leaky_relu
    out = computed(input, negative_slope)
    if inplace and negative_slope < 0:
        out = refusing_negative_slope(out, input, "leakyReLu", "LeakyReluBackward1")
    return finished(input, out, inplace, keeps=True)


@lower_precision
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where it is positive, else times `weight`: one number, or one for each channel (axis 1).

    Shape and type are those of `input`, and `weight` has that type. RuntimeError for another type, or another number
    of weights than 1 and that of the channels.

    >>> import tracegrad as tg
    >>> tg.prelu(tg.tensor([[-2., -2.]]), tg.tensor([0.5, 0.25]))
    tensor([[-1.0000, -0.5000]])
    """
    if weight.dtype is not input.dtype:
        got = f"{input.dtype.title} and {weight.dtype.title}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {got}; use .to()")
    OF_OPTIONS["slopes of its own type"].require(input)
    if weight.ndarray.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndarray.ndim}"
        )
    check_channels(input, weight)
    if weight.numel() > 1 or not input.ndim:
        weight = weight.reshape((-1, *(1,) * (input.ndim - 2)) if input.ndim else ())
    return _prelu(input, weight)


@composite("PreluKernelBackward0", {"input": ("input", "weight"), "weight": ("input", "weight")}, zero=True)
def _prelu(input: Any, weight: Any) -> Any:
    if not input.ndarray.flags.c_contiguous:
        input = gradient_as(input, input.ndarray)
    return where(input > 0, input, input * weight)


@rounded_once
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else ``alpha * (exp(input) - 1)`` (Clevert et al., 2016).

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.elu(tg.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    return _finished_elu(input, elementary.elu(input, alpha, 1.0, 1.0), inplace, alpha)


def _finished_elu(input: Any, out: Any, inplace: bool, alpha: float) -> Any:
    if inplace and alpha < 0:
        out = refusing_negative_slope(out, input, "elu", "EluBackward0")
    return finished(input, out, inplace, keeps=True)


#: The constants with which layers keep mean 0 and variance 1 (Klambauer et al., 2017).
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@rounded_once
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``scale * elu(input, alpha)`` with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017).

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.selu(tg.tensor([-1., 2.]))
    tensor([-1.1113,  2.1014])
    """
    return finished(input, elementary.elu(input, _SELU_ALPHA, _SELU_SCALE, 1.0), inplace, keeps=True)


@rounded_once
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else ``alpha * (exp(input / alpha) - 1)`` (Barron, 2017).

    Shape and type are those of `input`; NotImplementedError for integers, RuntimeError for an `alpha` of 0. With
    `inplace`, the result is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.celu(tg.tensor([-1., 2.]), alpha=0.5)
    tensor([-0.4323,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU; its slope left of 0 is exp(input / alpha)")
    return _finished_elu(input, elementary.elu(input, alpha, 1.0, 1 / alpha), inplace, alpha)


@fused("GeluBackward0", forms.gelu, forms.gelu_gradient, watched={0: (0,)})
def _gelu(input: Any) -> Any:
    return input * 0.5 * (1 + elementary.erf(input * math.sqrt(0.5)))


@fused("GeluBackward0", forms.gelu_tanh, forms.gelu_tanh_gradient, checked={0: (0,)})
def _gelu_tanh(input: Any) -> Any:
    inner = math.sqrt(2 / math.pi) * (input + 0.044715 * (input * input * input))
    return 0.5 * input * (1 + _tanh(inner))


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """``input * P(X <= input)`` for a standard normal X: ``input / 2 * (1 + erf(input / sqrt(2)))``.

    `approximate` "tanh" is ``input / 2 * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input**3)))`` instead. Shape and
    type are those of `input`; NotImplementedError for integers, RuntimeError for another approximation.

    >>> import tracegrad as tg
    >>> tg.nn.functional.gelu(tg.tensor([-1., 2.]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return _gelu(input) if approximate == "none" else _gelu_tanh(input)


@fused("SiluBackward0", forms.silu, forms.silu_gradient, checked={0: (0,)})
def _silu(input: Any) -> Any:
    return input * elementary.sigmoid(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``, also called swish.

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.silu(tg.tensor([-1., 2.]))
    tensor([-0.2689,  1.7616])
    """
    return finished(input, unserved(_silu, input), True) if inplace else _silu(input)


@fused("SoftplusBackward0", forms.softplus, forms.softplus_gradient, watched={0: (0,)})
def _softplus(input: Any, beta: float, threshold: float) -> Any:
    scaled = input if beta == 1 else input * beta
    large = scaled > threshold
    curve = elementary.log1p(elementary.exp(where(large, 0, scaled)))
    return where(large, input, curve if beta == 1 else curve / beta)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; `input` itself where ``beta * input`` is above `threshold`.

    Shape and type are those of `input`; NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.softplus(tg.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """
    return _softplus(input, beta, threshold)


@rounded_once
def logsigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(input))`` without overflow, ``-log(1 + exp(-input))``.

    Shape and type are those of `input`; NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.logsigmoid(tg.tensor([0., -1000.]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    if input.ndarray.flags.c_contiguous:
        return elementary.log_sigmoid(input)
    return contiguous(elementary.log_sigmoid(by_rows(input)))  # as PyTorch's kernel


@rounded_once
@composite("MishBackward0")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))`` (Misra, 2019).

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.mish(tg.tensor([-1., 2.]))
    tensor([-0.3034,  1.9440])
    """
    out = input * _tanh(unserved(softplus, input) if inplace else softplus(input))
    return finished(input, out, inplace)


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``, element by element; the type is that of a quotient.

    >>> import tracegrad as tg
    >>> tg.nn.functional.softsign(tg.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (1 + arithmetic.abs(input))


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``, element by element; floats keep their type, integers give the default one.

    >>> import tracegrad as tg
    >>> tg.nn.functional.tanhshrink(tg.tensor([0., 2.]))
    tensor([0.0000, 1.0360])
    """
    return input - _tanh(input)


@rounded_once
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second half (Dauphin et al., 2017).

    The result is half as long along `dim`. RuntimeError where that cannot be halved, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.glu(tg.tensor([1., 2., 0., 100.]))
    tensor([0.5000, 2.0000])
    """
    refuse_complex("glu", input.dtype)
    check_halves(input, axis_of(dim, input.ndarray.ndim))
    if not input.ndarray.flags.c_contiguous:
        input = by_rows(input)
    first, second = input.chunk(2, dim)
    return first * elementary.sigmoid(second)
