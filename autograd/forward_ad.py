"""``autograd.forward_ad``: derivatives along a direction, computed beside the values (forward mode)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ..ops.core import interpreted
from ..tape.tangents import Region
from ..tensors.tensor import Tensor
from ..tracing.watch import forbid
from .forward_mode import OpenLevel

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

F = TypeVar("F", bound=Callable[..., Any])


class _Current(threading.local):
    level: OpenLevel | None = None


_current = _Current()


def enter_dual_level() -> int:
    """Begin a level, in which tensors may have tangents, for this thread; returns its number, 0.

    RuntimeError within another level. `dual_level` is the same for a block.

    >>> import tracegrad as tg
    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> fwAD.enter_dual_level()
    0
    >>> fwAD.exit_dual_level()
    """
    forbid("enter_dual_level()", "Write `with dual_level():`, whose level surely ends within the function.")
    return _enter()


def _enter() -> int:
    if _current.level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _current.level = OpenLevel()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: no tensor has a tangent any more. RuntimeError without a level, and for another one than `level`.

    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> level = fwAD.enter_dual_level()
    >>> fwAD.exit_dual_level(level=level)
    """
    forbid("exit_dual_level()", "Write `with dual_level():`, whose level surely ends within the function.")
    _exit(level)


def _exit(level: int | None = None) -> None:
    open_level, number = _current.level, -1 if _current.level is None else 0
    if level is not None and level != number:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if open_level is None:
        raise RuntimeError("Dual level must be a positive number. There is none: call enter_dual_level() first.")
    open_level.end()
    _current.level = None


class dual_level:
    """A level as a context manager or a decorator: tensors may have tangents inside.

    RuntimeError within another level: levels do not nest. `func.jvp` does.

    >>> import tracegrad as tg
    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(tg.tensor([1.0, 3.0]), tg.tensor([1.0, 10.0]))
    ...     value, change = fwAD.unpack_dual(x * x)
    >>> value, change
    (tensor([1., 9.]), tensor([ 2., 60.]))
    """

    def __enter__(self) -> int:
        return _enter()

    def __exit__(self, *exc_info: object) -> None:
        _exit()

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` whose numbers change along `tangent`, of the same shape: results computed of it have tangents.

    Gradients go back to both. A write to the view changes its tangent in place. RuntimeError outside of a level, for
    another shape and for a `tensor` that has a tangent itself; ValueError for what is neither floating nor complex.

    >>> import tracegrad as tg
    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     fwAD.make_dual(tg.ones(2), tg.tensor([0.0, 5.0]))
    tensor([1., 1.], tangent=tensor([0., 5.]))
    """
    current = _level(level)
    if current is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {x.dtype}")
    if current.level.has_tangent(tensor) or current.level.has_tangent(tangent):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported. unpack_dual() gives one without."
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    dual = _seen_apart(current, tensor)
    current.level.region_of(dual).tangent = tangent
    return dual


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: the tensor without its tangent, and the tangent, None where there is none.

    >>> import tracegrad as tg
    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> fwAD.unpack_dual(tg.ones(1)).tangent is None
    True
    """

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """``(primal, tangent)``: a view of `tensor` without its tangent, and that; outside of a level ``(tensor, None)``.

    >>> import tracegrad as tg
    >>> import tracegrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     fwAD.unpack_dual(fwAD.make_dual(tg.tensor(2.0), tg.tensor(1.0)).exp()).tangent
    tensor(7.3891)
    """
    current = _level(level)
    if current is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    return UnpackedDualTensor(_seen_apart(current, tensor), current.level.tangent_of(tensor))


def _level(number: int | None) -> OpenLevel | None:
    """The level of that number; the open one, if there is one, for None."""
    if _current.level is None or (number is not None and number < 0):
        return None
    _current.level.require()
    return _current.level


def _seen_apart(current: OpenLevel, tensor: Tensor) -> Tensor:
    """A view of `tensor` that has no part in its tangent."""
    view: Tensor = interpreted(current.level.around, Tensor.view, tensor, tensor.shape)
    current.level.place(view, Region(view))
    return view
