"""Softmax: exponentials over their sum, and its logarithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops import elementary, movement
from ...ops import reductions as folds
from ...ops.pointwise import cast
from ...ops.types import DType
from ...tape.grad_mode import no_grad
from ...tensors.arguments import Shape, axes_of
from ...tensors.composite import relabel
from ...tensors.fusion import fused
from ...tracing.user_warning import warn_user
from ..forms import activations as forms
from ..shapes import contiguous

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


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


def _implicit_dim(ndim: int, name: str) -> int:
    warn_user(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    )
    return 0 if ndim in (0, 1, 3) else 1


def _prepared(input: Any, dim: int | None, dtype: DType | None, name: str = "softmax") -> tuple[Any, Shape]:
    x = input if dtype is None or input.dtype is dtype else cast(input, dtype)
    if not x.dtype.is_floating_point:
        got = input.dtype.title
        raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{got}'; call .float()")
    x = x if x.ndarray.flags.c_contiguous else contiguous(x)
    return x, axes_of(_implicit_dim(x.ndim, name) if dim is None else dim, x.ndarray.ndim)


def _softmax_rule(g: Any, value: Any, axes: Shape) -> Any:
    weighted = g * value
    return weighted - value * _kept_sum(weighted, axes)


@fused("SoftmaxBackward0", forms.softmax, forms.softmax_gradient, checks_value=True, value_rule=_softmax_rule)
def _softmax(x: Any, axes: Shape) -> Any:
    raised = elementary.exp(_shifted(x, axes))
    return raised / _kept_sum(raised, axes)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along `dim`: numbers between 0 and 1 whose sum is 1, without overflow.

    Without `dim` it is axis 0 of 0, 1 and 3 axes, else axis 1; `_stacklevel` has no effect. `input` is cast to `dtype`
    first, if that is given; NotImplementedError for integers otherwise. The shape is that of `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.softmax(tg.tensor([0., 0., 1000.]), dim=0)
    tensor([0., 0., 1.])
    """
    x, axes = _prepared(input, dim, dtype)
    out = _softmax(x, axes)
    if x is not input:
        relabel(out, "SoftmaxBackward0", (input,))
    return out


def _log_softmax_rule(g: Any, value: Any, axes: Shape) -> Any:
    return g - elementary.exp(value) * _kept_sum(g, axes)


@fused(
    "LogSoftmaxBackward0",
    forms.log_softmax,
    forms.log_softmax_gradient,
    watches_value=True,
    value_rule=_log_softmax_rule,
)
def _log_softmax(x: Any, axes: Shape) -> Any:
    shifted = _shifted(x, axes)
    return shifted - elementary.log(_kept_sum(elementary.exp(shifted), axes))


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """``input - log(sum(exp(input)))`` along `dim`: the logarithm of `softmax`, without overflow.

    Arguments, shape and errors are those of `softmax`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.log_softmax(tg.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    x, axes = _prepared(input, dim, dtype, "log_softmax")
    out = _log_softmax(x, axes)
    if x is not input:
        relabel(out, "LogSoftmaxBackward0", (input,))
    return out


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """``softmax(-input)`` along `dim`: the smallest element gets the most. Arguments are those of `softmax`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.softmin(tg.tensor([1., 1., 3.]), dim=0)
    tensor([0.4683, 0.4683, 0.0634])
    """
    return softmax(-input, _implicit_dim(input.ndim, "softmin") if dim is None else dim, dtype=dtype)
