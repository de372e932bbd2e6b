"""Activations that take small values for zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.comparison import where
from ...ops.logic import logical_and
from ...tensors.calling.kernels import require_floating
from ...tensors.composite import composite, part
from ...tensors.data import fitting
from ...tensors.limits import finfo

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

#: What both keep.
_INPUT = {"input": ("input",)}


@part
@composite("HardshrinkBackward0", _INPUT, zero=True)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` where it is below `-lambd` or above `lambd`, else 0; NaN stays NaN.

    Shape and type are those of `input`; NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.hardshrink(tg.tensor([-2., 0.25, 1.]))
    tensor([-2.,  0.,  1.])
    """
    require_floating("hardshrink_cpu", input)
    fitting(lambd, input.dtype)
    return where(logical_and(input >= -lambd, input <= lambd), 0.0, input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` moved by `lambd` towards 0, and 0 where it is nearer than that; NaN stays NaN.

    Shape and type are those of `input`. RuntimeError for a `lambd` outside the type's range from 0 on,
    NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.softshrink(tg.tensor([-2., 0.25, 1.]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    require_floating("softshrink_check", input)
    largest = float(finfo(input.dtype).max)
    if not 0 <= lambd <= largest:
        name = input.dtype.title
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype {name}, but found {lambd:g}")
    return _softshrink(input, lambd)


@part
@composite("SoftshrinkBackward0", _INPUT, zero=True)
def _softshrink(input: Any, lambd: float) -> Any:
    near = where(input < -lambd, input + lambd, input * 0)  # NaN for NaN
    return where(input > lambd, input - lambd, near)
