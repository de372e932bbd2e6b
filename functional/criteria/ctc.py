"""Connectionist temporal classification (Graves et al. 2006): the loss of label sequences that are not aligned.

The states of a sample are its labels with a blank before, between and behind them. Forward and backward variables are
loops over time (`scan`), in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...autograd.function import Operation, without_derivative
from ...ops import elementary, indexing, movement
from ...ops import reductions as folds
from ...ops.arithmetic import maximum
from ...ops.array import eager
from ...ops.comparison import eq, ne, where
from ...ops.core import current
from ...ops.logic import logical_and
from ...ops.pointwise import cast
from ...ops.requirements import Requirement, require
from ...ops.scans import cumsum
from ...ops.sources import full, iota
from ...ops.types import bool_, int64
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite
from ...tensors.tensor import Tensor
from ..loss_arguments import reduced
from ..recurrent.scan import scan

_PLACE = "(while checking arguments for ctc_loss_allocate_outputs)"
_TARGETS = f"argument #2 'targets' {_PLACE}"
_LEAST = "Expected {} to have value at least 0, but got value {{value}} " + _PLACE
NOT_NEGATIVE = {
    name: Requirement(lambda n: (n >= 0,), RuntimeError, _LEAST.format(name))
    for name in ("input_lengths", "target_lengths")
}
WITHIN_TIME = Requirement(
    lambda n, most: (n <= most,),
    RuntimeError,
    "Expected input_lengths to have value at most {0}, but got value {value} " + _PLACE,
)
WITHIN_TARGETS = Requirement(
    lambda n, most: (n <= most,),
    RuntimeError,
    f"Expected tensor to have size at least {{value}} at dimension 1, but got size {{0}} for {_TARGETS}",
)
LABELS = Requirement(
    lambda label, classes: (label >= 0, label < classes),
    RuntimeError,
    "ctc_loss: the label {value} is not one of the {0} classes of log_probs",
)


@full_precision
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability that the classes along time, repeats joined and blanks left out, spell
    the targets.

    `log_probs` is [time, batch, classes] (or [time, classes]), logarithms of probabilities as `log_softmax` gives them;
    `targets` integers [batch, length], of which `target_lengths` count, or those of all samples in one row. The lengths
    are tensors or sequences of integers. "mean" divides each loss by its target's length first; `zero_infinity` makes
    losses of targets that do not fit, and their gradients, zero. The gradient is PyTorch's: that by the scores of which
    `log_probs` is the `log_softmax`; as there, it has no derivative. RuntimeError for that, and for lengths and shapes
    that do not fit together.

    >>> import tracegrad as tg
    >>> logs = tg.log_softmax(tg.zeros(3, 1, 2), 2)
    >>> tg.nn.functional.ctc_loss(logs, tg.tensor([[1]]), (3,), (1,))
    tensor(0.2877)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of none, mean, sum")
    is_single = log_probs.ndarray.ndim == 2
    if is_single:
        steps, classes = log_probs.ndarray.shape
        log_probs = movement.reshape(log_probs, (steps, 1, classes))
    _check(log_probs, targets, blank)
    lengths = _lengths("input_lengths", input_lengths, log_probs.ndarray.shape[1])
    sizes = _lengths("target_lengths", target_lengths, log_probs.ndarray.shape[1])
    require(lengths, NOT_NEGATIVE["input_lengths"])
    require(lengths, WITHIN_TIME, log_probs.ndarray.shape[0])
    require(sizes, NOT_NEGATIVE["target_lengths"])
    rows = _rows(targets, sizes, target_lengths)
    loss = _ctc(log_probs, rows, lengths, sizes, blank)
    if zero_infinity:
        loss = where(eq(loss, math.inf), 0.0, loss)
    if reduction == "mean":
        loss = loss / cast(maximum(sizes, 1), loss.dtype)
    return reduced(movement.reshape(loss, ()) if is_single and reduction == "none" else loss, reduction)


def _check(log_probs: Any, targets: Any, blank: int) -> None:
    shape = log_probs.ndarray.shape
    if len(shape) != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {len(shape)}-dimensional tensor for argument #1 'log_probs' "
            f"{_PLACE}"
        )
    if not log_probs.ndarray.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if not log_probs.dtype.is_floating_point:
        name = log_probs.dtype.title
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{name}'; call .float()")
    if not 0 <= blank < shape[2]:
        raise RuntimeError(f"blank must be in label range: {blank} is not one of {shape[2]} classes")
    if targets.ndarray.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndarray.ndim}-dimensional tensor for {_TARGETS}"
        )
    if targets.ndarray.ndim == 2 and targets.ndarray.shape[0] != shape[1]:
        raise RuntimeError(
            f"Expected tensor to have size {shape[1]} at dimension 0, but got size {targets.ndarray.shape[0]} for "
            f"{_TARGETS}"
        )


def _lengths(name: str, given: Any, batch: int) -> Any:
    """The lengths as int64 [batch]."""
    if not isinstance(given, Tensor):
        given = eager().literal(np.array(list(given), np.int64))
    if given.dtype.is_floating_point or given.dtype is bool_:
        raise RuntimeError(f"{name} must be integral")
    if given.ndarray.size != batch or given.ndarray.ndim > 1 or (not given.ndarray.ndim and batch != 1):
        raise RuntimeError(f"{name} must be of size batch_size")
    return cast(movement.reshape(given, (batch,)), int64)


def _rows(targets: Any, sizes: Any, target_lengths: Any) -> Any:
    """The targets as int64 [batch, longest]; what stands behind a target's end does not matter."""
    labels = targets if targets.dtype is int64 else cast(targets, int64)
    if labels.ndarray.ndim == 2:
        require(sizes, WITHIN_TARGETS, labels.ndarray.shape[1])
        return labels
    counts = target_lengths if isinstance(target_lengths, (tuple, list)) else sizes.tolist()
    total, batch = sum(counts), sizes.ndarray.shape[0]
    if total != labels.ndarray.size:
        raise RuntimeError(
            f"Expected tensor to have size {total} at dimension 0, but got size {labels.ndarray.size} for {_TARGETS}"
        )
    longest = max(counts, default=0)
    if not total:
        return full((batch, longest), 0, int64)
    starts = movement.reshape(cumsum(sizes, 0) - sizes, (batch, 1))
    within = iota((batch, longest), 1, int64) < movement.reshape(sizes, (batch, 1))
    return indexing.take(labels, where(within, starts + iota((batch, longest), 1, int64), 0))


class _States(NamedTuple):
    """What the loops read. Masks are added to logarithms: 0, or minus infinity."""

    labels: Any  # [batch, states]
    skip: Any  # [batch, states]: whether a state may follow the last but one
    ends: Any  # [batch, states]: whether a sample may end there


def _mask(allowed: Any, dtype: Any) -> Any:
    return where(allowed, full((), 0.0, dtype), full((), -math.inf, dtype))


def _states(rows: Any, sizes: Any, blank: int, classes: int, dtype: Any) -> _States:
    batch, longest = rows.ndarray.shape
    count = 2 * longest + 1
    size = movement.reshape(sizes, (batch, 1))
    safe = where(iota((batch, longest), 1, int64) < size, rows, blank)
    require(safe, LABELS, classes)
    blanks = full((batch, longest, 1), blank, int64)
    pairs = movement.concatenate([blanks, movement.reshape(safe, (batch, longest, 1))], 2)
    labels = movement.concatenate([movement.reshape(pairs, (batch, 2 * longest)), full((batch, 1), blank, int64)], 1)
    two_before = _shifted(labels, 2, blank)
    number = iota((batch, count), 1, int64)
    may_skip = logical_and(ne(labels, two_before), number > 1)
    may_end = logical_and(number >= 2 * size - 1, number <= 2 * size)
    return _States(labels, _mask(may_skip, dtype), _mask(may_end, dtype))


def _shifted(x: Any, by: int, value: float) -> Any:
    """[batch, states] moved `by` states behind (before, if negative); `value` comes in."""
    batch, count = current().type_of(x).shape
    ahead, behind = max(by, 0), max(-by, 0)
    wide = movement.pad(x, (0, ahead), (0, behind), value)
    return movement.slice(wide, (0, behind), (batch, behind + count), (1, 1))


def _log_sum(terms: Sequence[Any]) -> Any:
    """The logarithm of the sum of what `terms` are the logarithms of; minus infinity for nothing."""
    top = terms[0]
    for term in terms[1:]:
        top = maximum(top, term)
    top = where(eq(top, -math.inf), 0.0, top)
    total = elementary.exp(terms[0] - top)
    for term in terms[1:]:
        total = total + elementary.exp(term - top)
    return elementary.log(total) + top


Values = list[Any]


def _forward_step(carried: Values, slices: Values, constants: Values) -> tuple[Values, Values]:
    (alpha,), (emission,), (skip,) = carried, slices, constants
    before = _shifted(alpha, 1, -math.inf)
    return [_log_sum([alpha, before, _shifted(alpha, 2, -math.inf) + skip]) + emission], []


def _backward_step(carried: Values, slices: Values, constants: Values) -> tuple[Values, Values]:
    (beta,), (emission, is_last), (skip, ends) = carried, slices, constants
    behind = _shifted(beta, -1, -math.inf)
    leap = _shifted(beta + skip, -2, -math.inf)
    return [_log_sum([beta, behind, leap, ends + is_last]) + emission], []


def _by_time(x: Any) -> Any:
    """[time, batch, *] as a loop over time reads it."""
    time, batch, last = x.ndarray.shape
    return movement.reshape(x, (time * batch, last))


class _ForwardBackward(Operation):
    """The loss of each sample; its derivative by the scores below `log_probs`."""

    @staticmethod
    def forward(ctx: Any, log_probs: Any, labels: Any, skip: Any, ends: Any, lengths: Any, sizes: Any) -> Any:
        time, batch, _ = log_probs.ndarray.shape
        count = labels.ndarray.shape[1]
        index = movement.broadcast(movement.reshape(labels, (1, batch, count)), (time, batch, count))
        emissions = indexing.gather(log_probs, index, 2)
        start = _mask(eq(iota((batch, count), 1, int64), 0), log_probs.dtype)
        alpha = scan(_forward_step, time, [start], [_by_time(emissions)], [skip]).carried[0]
        last = movement.broadcast(movement.reshape(maximum(lengths - 1, 0), (1, batch, 1)), (1, batch, count))
        ended = movement.reshape(indexing.gather(alpha, last, 0), (batch, count)) + ends
        ended = where(movement.reshape(eq(lengths, 0), (batch, 1)), start + ends, ended)
        top = folds.amax(ended, (1,))
        top = where(eq(top, -math.inf), 0.0, top)
        total = folds.sum(elementary.exp(ended - movement.reshape(top, (batch, 1))), (1,))
        loss = -(elementary.log(total) + top)
        ctx.save_for_backward(log_probs, emissions, index, alpha, skip, ends, lengths, loss)
        return loss

    @staticmethod
    @without_derivative("aten::_ctc_loss_backward")
    def backward(ctx: Any, g: Any) -> Any:
        log_probs, emissions, index, alpha, skip, ends, lengths, loss = ctx.saved_tensors
        time, batch, count = emissions.ndarray.shape
        step = iota((time, batch, 1), 0, int64)
        is_last = _mask(eq(step, movement.reshape(lengths - 1, (1, batch, 1))), log_probs.dtype)
        nothing = full((batch, count), -math.inf, log_probs.dtype)
        streams = [_by_time(emissions), _by_time(is_last)]
        beta = scan(_backward_step, time, [nothing], streams, [skip, ends], backwards=True).carried[0]
        each = movement.reshape(loss, (1, batch, 1))
        share = elementary.exp(alpha + beta - emissions + each)
        empty = full(log_probs.ndarray.shape, 0.0, log_probs.dtype)
        found = indexing.scatter_add(empty, index, where(eq(alpha + beta, -math.inf), 0.0, share), 2)
        found = where(eq(each, math.inf), math.nan, found)  # where nothing fits, as in PyTorch
        counted = step < movement.reshape(lengths, (1, batch, 1))
        weight = movement.reshape(g, (1, batch, 1))
        gradient = (elementary.exp(log_probs) - found) * weight
        is_dropped = logical_and(eq(each, math.inf), eq(weight, 0))  # by zero_infinity
        return (where(logical_and(counted, eq(cast(is_dropped, int64), 0)), gradient, 0.0), *[None] * 5)


@composite("CtcLossBackward0")
def _ctc(log_probs: Any, rows: Any, lengths: Any, sizes: Any, blank: int) -> Any:
    states = _states(rows, sizes, blank, log_probs.ndarray.shape[2], log_probs.dtype)
    return _ForwardBackward.apply(log_probs, states.labels, states.skip, states.ends, lengths, sizes)
