"""``TRACEGRAD_CHECK_NAN=1``: an error at the first operation that makes a NaN or an infinity.

The variable is read when the library is imported. Every public function, method and operator then looks at its result,
and the derivative of each node of the tape at its gradients (see `tape.anomaly`). A number counts where it arises: a
result with NaN of operands without, a result with infinities of finite operands, so that masks of ``-inf`` are no
errors. Products, convolutions, norms and losses may not be given NaN at all: what comes from data or from a parameter
is found there. Compiled functions and ``deferred()`` run eagerly, as there is nothing to look at in between otherwise.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.callers.source_files import folder_of, is_own_file
from ...ops.core import switch
from ...tape import anomaly
from ...tracing.tracebacks import boundary, fold, line_of_user

Function = Callable[..., Any]

#: What the library has of programs: layers and distributions call public functions as programs do.
_LIKE_PROGRAMS = frozenset({"nn", "distributions", "utils"})
#: Gradients are looked at when a node has computed them, parameters when they are updated.
_LOOKED_AT_THERE = frozenset({"tape", "optim"})
#: Functions that mean nothing for NaN.
_REFUSING_NAN = frozenset(
    "matmul mm bmm mv dot addmm baddbmm linear bilinear conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d layer_norm batch_norm group_norm instance_norm rms_norm mse_loss l1_loss "
    "smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "scaled_dot_product_attention".split()
)


def checking(function: Function, name: str) -> Function:
    """`function`, whose results are looked at if the variable is set."""
    if not anomaly.CHECKS_ALL:
        return function
    name = _of_operator(name) if name.startswith("__") else name

    @boundary
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if switch.stack or _is_within(sys._getframe(0).f_code, sys._getframe(1)):
            return result
        try:
            _check(name, result, [*args, *kwargs.values()])
        except RuntimeError as error:
            fold(error)
            raise
        return result

    return checked


def _of_operator(method: str) -> str:
    """``div`` for ``__truediv__`` and for ``__rtruediv__``."""
    name = method.strip("_")
    name = name[1:] if name.startswith("r") and name != "rshift" else name
    return {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}.get(name, name)


def check_written(what: str, tensors: Iterable[Any]) -> None:
    """The same for what an optimizer has written."""
    for i, tensor in enumerate(tensors):
        if not np.isfinite(tensor.ndarray).all():
            _refuse(f"{what} made {_found(tensor.ndarray, finite=True)} of parameter {i} ({_shape(tensor.ndarray)})")


def _is_within(code: CodeType, frame: FrameType | None) -> bool:
    """True for a call that another function makes whose own result is looked at: what lies between may be dropped."""
    while frame is not None and is_own_file(frame.f_code.co_filename):
        folder = folder_of(frame.f_code.co_filename)
        if folder in _LIKE_PROGRAMS:
            return False
        if frame.f_code is code or folder in _LOOKED_AT_THERE:
            return True
        frame = frame.f_back
    return False


def _check(name: str, result: Any, operands: list[Any]) -> None:
    given = list(_numbers(operands))
    if not any(isinstance(values, np.ndarray) for values in given):
        return  # a new tensor, of what the program says
    has_nan = any(np.isnan(values).any() for values in given)
    if has_nan and name in _REFUSING_NAN:
        places = [i for i, values in enumerate(given) if np.isnan(values).any()]
        _refuse(f"{name}() was given {_found(given[places[0]], finite=False)} in its tensor {places[0]}")
    is_finite = not has_nan and all(np.isfinite(values).all() for values in given)
    for values in _numbers([result]):
        if not has_nan and np.isnan(values).any():
            _refuse(f"{name}() made {_found(values, finite=False)} of operands without")
        if is_finite and not np.isfinite(values).all():
            _refuse(f"{name}() made {_found(values, finite=True)} of finite operands")


def _numbers(values: Iterable[Any]) -> Iterator[Any]:
    """The floating-point numbers among values, and in lists and tuples of them: arrays of tensors, Python's numbers."""
    for value in values:
        if isinstance(value, Array):
            if value.ndarray.dtype.kind not in "biu":
                yield value.ndarray
        elif isinstance(value, (float, complex)):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _numbers(value)


def _found(values: np.ndarray, finite: bool) -> str:
    """What is not a number (or, where all should be, not `finite`) among `values`."""
    bad = ~np.isfinite(values) if finite else np.isnan(values)
    what = "NaN" if np.isnan(values).any() else "infinity"
    if not values.ndim:
        return what
    first = [int(i) for i in np.argwhere(bad)[0]]
    return f"{what} ({int(bad.sum())} of {values.size} elements, the first at {first})"


def _shape(values: np.ndarray) -> str:
    return f"shape {list(values.shape)}"


def _refuse(text: str) -> None:
    error = RuntimeError(text)
    line = line_of_user(error)
    raise RuntimeError(f"{text}, at {line}") if line else error
