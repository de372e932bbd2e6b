"""Updates of optimizers as numpy code that works in place: what plain eager mode does instead of many primitives.

The formulas are those of the `update` methods, operation by operation, so that the numbers are the same. Large
parameters are updated block by block: what is read stays in the cache, and no memory of their size is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..ops.array import quietly, require_writable
from ..ops.memory import blocks
from ..tensors.operands import PLAIN_TENSORS
from .numbers import reciprocal_root

F = TypeVar("F", bound=Callable[..., Any])
#: ``form(optimizer, p, gradient, state, group)``: whether the update is done.
Form = Callable[[Any, Any, Any, Any, Any], bool]

_FLOATING = (np.dtype("float32"), np.dtype("float64"))


_forms: dict[Any, Form] = {}  # by the function itself: what wraps it, or takes its place, has none


def in_numpy(form: Form) -> Callable[[F], F]:
    """Decorate an ``update`` that plain eager mode may do by `form`; a subclass's own update has no such form."""

    def decorate(update: F) -> F:
        _forms[update] = form
        return update

    return decorate


def form_of(update: Any) -> Form | None:
    """The form of an optimizer's bound method ``update``, None where it has none."""
    return _forms.get(getattr(update, "__func__", None))


def updatable(written: Sequence[Any], gradient: Any) -> list[np.ndarray] | None:
    """The arrays of `gradient` and of the tensors that are written to, if all are of one floating type and shape."""
    p = written[0]
    shape, dtype = p.ndarray.shape, p.ndarray.dtype
    if dtype not in _FLOATING or not all(type(x) in PLAIN_TENSORS for x in (gradient, *written)):
        return None
    arrays = [gradient.ndarray, *[x.ndarray for x in written]]
    for array in arrays:
        if array.shape != shape or array.dtype is not dtype:
            return None
    for x in written:
        require_writable(x)
    return arrays


def _numbers(options: Iterable[Any]) -> list[float] | None:
    """Options, if all of them are numbers of the program that are floats or become some."""
    numbers = list(options)
    return numbers if all(type(x) is float or (type(x) is int and x.bit_length() < 1024) for x in numbers) else None


def adam(optimizer: Any, p: Any, gradient: Any, state: Any, group: Any) -> bool:
    """`Adam.update`."""
    names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if dict.get(group, "amsgrad") else ("exp_avg", "exp_avg_sq")
    written = [p, *[dict.get(state, name) for name in names]]
    step: Any
    arrays, step, betas = updatable(written, gradient), dict.get(state, "step"), dict.get(group, "betas")
    numbers = _numbers((*[dict.get(group, name) for name in ("lr", "eps", "weight_decay")], *(betas or ())))
    if arrays is None or numbers is None or len(numbers) != 5 or type(step) not in PLAIN_TENSORS:
        return False
    require_writable(step)
    try:
        factors = _adam_factors(numbers, float(step.ndarray + step.ndarray.dtype.type(1)), group)
    except (ArithmeticError, TypeError):
        return False  # `update` raises it, where PyTorch does
    step.ndarray += 1
    step.buffer.version += 1
    factors = factors.of(p.ndarray.dtype)
    count_writes(written)  # first: an interrupt between blocks leaves memory that counts as written to
    for block in blocks(arrays):
        quietly(_adam_block, factors, *block)
    return True


class _AdamFactors(NamedTuple):
    """The numbers of one step of Adam."""

    first: Any
    second: Any
    kept: Any
    correction: Any
    eps: Any
    rate: Any
    shrink: Any
    decay: Any
    negated: bool

    def of(self, dtype: np.dtype) -> _AdamFactors:
        """The same in an element type."""
        numbers: list[Any] = [x if x is None or x is True or x is False else dtype.type(x) for x in self]
        return _AdamFactors(*numbers)


def _adam_factors(numbers: Sequence[float], count: float, group: Any) -> _AdamFactors:
    lr, eps, decay, beta1, beta2 = numbers
    decoupled = bool(dict.get(group, "decoupled_weight_decay"))
    factors = _AdamFactors(
        first=1 - beta1,
        second=1 - beta2,
        kept=beta2,
        correction=reciprocal_root(1 - beta2**count),
        eps=eps,
        rate=lr / (1 - beta1**count),
        shrink=1 - lr * decay if decay and decoupled else None,
        decay=decay if decay and not decoupled else None,
        negated=bool(dict.get(group, "maximize")),
    )
    if isinstance(factors.correction, complex) or isinstance(factors.rate, complex):
        raise TypeError("the correction of Adam's mean square is complex")
    return factors


def _adam_block(by: _AdamFactors, g: Any, p: Any, mean: Any, square: Any, peak: Any = None) -> None:
    if by.negated:
        g = -g
    if by.decay is not None:
        g = g + p * by.decay
    change = g - mean
    change *= by.first
    mean += change
    np.multiply(g, by.second, out=change)
    change *= g
    square *= by.kept
    square += change
    if peak is not None:
        np.maximum(peak, square, out=peak)
    root = np.sqrt(square if peak is None else peak)
    root *= by.correction
    root += by.eps
    np.multiply(mean, by.rate, out=change)
    change /= root
    if by.shrink is not None:
        p *= by.shrink
    p -= change


def sgd(optimizer: Any, p: Any, gradient: Any, state: Any, group: Any) -> bool:
    """`SGD.update`, but for the first step with momentum."""
    numbers = _numbers([dict.get(group, name) for name in ("lr", "momentum", "dampening", "weight_decay")])
    if numbers is None:
        return False
    lr, momentum, dampening, decay = numbers
    written = [p, dict.get(state, "momentum_buffer")] if momentum else [p]
    arrays = None if written[-1] is None else updatable(written, gradient)
    if arrays is None:
        return False
    number = p.ndarray.dtype.type
    factors = number(lr), number(momentum), number(1 - dampening), number(decay) if decay else None
    choices = bool(dict.get(group, "nesterov")), bool(dict.get(group, "maximize"))
    count_writes(written)
    for block in blocks(arrays):
        quietly(_sgd_block, factors, choices, *block)
    return True


def _sgd_block(factors: Sequence[Any], choices: tuple[bool, bool], g: Any, p: Any, velocity: Any = None) -> None:
    (lr, momentum, gain, decay), (nesterov, negated) = factors, choices
    if negated:
        g = -g
    if decay is not None:
        g = g + p * decay
    if velocity is not None:
        velocity *= momentum
        velocity += g * gain
        g = g + velocity * momentum if nesterov else velocity
    p -= g * lr


def count_writes(written: Sequence[Any]) -> None:
    for x in written:
        x.buffer.version += 1
