"""``step.verify(*args)``: one call done eagerly and compiled, from the same state, and how far the two are apart.

Both ways run on the user's own tensors, whose state is kept aside before and put back after (`snapshot.py`): so what
is compared is what would have happened.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

from ...compiler.errors import CompilerError
from ...ops.array import Evaluator
from ...ops.core import interpreted
from ...tape.reverse import backward
from ...tape.tape import Tape
from ...tensors.tensor import Tensor, make
from ..common.autograd_graph import cut_off, is_spent
from ..common.classes import is_a
from ..common.pytree import leaves, skeleton
from .difference import Difference, difference_of, moved_by_a_rounding
from .provenance import Provenance
from .report import Report, Row
from .snapshot import Snapshot

ATTEMPTS = 4  # calls after which there must be a compiled form: one may make an optimizer's state, one is recorded
# Two correct results of a step differ by the order of their sums and by elementary functions. The error of a sum of n
# numbers is at most n roundings of the largest partial sum, and of the order of their root: 1000 ulp of the largest
# number in a tensor allow for sums of some 10^5 numbers; a wrong formula is seldom right to four digits.
LIMIT_ULP = 1000.0
# What is small against all others of its kind is what cancellation has left of larger numbers: it has their error.
SMALLEST_SCALE = 2.0**-10
# Where that is not enough (Adam divides such a remainder by its own size) the eager step is done once more from a
# state that is moved by one rounding: what moves with it by a comparable amount is not determined better than that.
NOISE_FACTOR = 16.0
MOVES = 3  # such states: a sum of few numbers may be rounded to what it was


_KINDS = ("result", "gradient", "updated")


class VerificationError(CompilerError):
    """The compiled form of a call does something else than the eager one."""


@dataclass(eq=False)
class Outcome:
    """What a call has done: values by (kind, name, tensor's identity or path), None for a gradient that is None."""

    start: Snapshot
    values: dict[tuple[str, Any], np.ndarray | None] = field(default_factory=dict)
    structure: Any = None
    error: Exception | None = None
    numbers: set[tuple[str, Any]] = field(default_factory=set)  # those of `values` that are Python's floats

    def value(self, key: tuple[str, Any]) -> np.ndarray | None:
        """What there was after the call; what this way has not changed is as it was before."""
        if key in self.values or key[0] == "result":
            return self.values.get(key)
        tensor = key[1] if key[0] == "updated" else self.start.gradients.get(id(key[1]))
        return None if tensor is None else self.start.value(tensor)


def verify(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Report:
    """Compare the two ways of ``step(*args, **kwargs)``; the state is as before, whatever happens."""
    arguments = [*args, *kwargs.values()]
    outside = Snapshot(step.function, arguments, _known_tensors(step))
    try:
        try:
            ends = [cut_off(tensor) for tensor in outside.tensors if tensor.grad_fn is not None]
            return _both_ways(step, args, kwargs, ends)
        finally:
            outside.restore()
    except BaseException:
        outside.restore()  # wholly: an interrupt may have come within
        raise


def _both_ways(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any], ends: list[Tensor]) -> Report:
    arguments = [*args, *kwargs.values()]
    for _ in range(ATTEMPTS):
        start = Snapshot(step.function, arguments, [*_known_tensors(step), *ends])
        has_program, known = _has_program(step, args, kwargs), list(step.specialisations)
        compiled = _outcome(functools.partial(_compiled, step, args, kwargs), start, step)
        has_refused = has_program and step.specialisations == known  # the numbers of this call, so that it was eager
        if step.way != "eager" or compiled.error is not None or has_refused:
            return _compared(step, args, kwargs, start, compiled)
    raise CompilerError(
        f"{step.__name__} has no compiled form that could be compared\n"
        f"  in {step.__name__}.verify(): {ATTEMPTS} calls in a row ran eagerly\n"
        "  Install a C compiler if there is none; otherwise let the function do the same at each call."
    )


def _compiled(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    before, step._rerun.is_verified = step._rerun.is_verified, True
    try:
        return step._call(args, kwargs)
    finally:
        step._rerun.is_verified = before


def _has_program(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    for specialisation in step.specialisations:
        with specialisation.lock:
            if specialisation.matches(args, kwargs):
                return True
    return False


def check(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """VerificationError if the two ways of this call differ by more than they may."""
    report = verify(step, args, kwargs)
    if not report.ok:
        raise VerificationError(report.complaint())


def is_wanted() -> bool:
    """True if each specialisation shall be verified once: ``TRACEGRAD_VERIFY=1`` in the environment."""
    return os.environ.get("TRACEGRAD_VERIFY", "") not in ("", "0")


def _compared(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any], start: Snapshot, compiled: Outcome) -> Report:
    def eagerly() -> Any:
        # Not the usual tape: nested compiled functions run eagerly, too.
        return interpreted(Tape(Evaluator(), make), step.function, *args, **kwargs)

    way = step.way
    lines = Provenance(step.specialisations[0] if way == "replay" else None, start.gradients)
    start.restore()
    eager = _outcome(eagerly, start, step)
    report = Report(step.__name__, way, _rows(eager, compiled, lines, []))
    if not report.ok and eager.error is None:
        moved = [_moved(eagerly, start, step, seed) for seed in range(MOVES)]
        report = Report(step.__name__, way, _rows(eager, compiled, lines, moved))
        report.suspects = lines.suspects([r.key for r in report.rows if not r.ok], [r.key for r in report.rows if r.ok])
    return report


def _known_tensors(step: Any) -> list[Tensor]:
    """What the programs read and write, wherever it came from."""
    roots = [root.array for s in step.specialisations for root in s.recording.recorder.roots]
    gradients = [output.tensor for s in step.specialisations for output in s.grads.outputs]
    return [t for t in [*roots, *gradients] if is_a(t, Tensor)]


# ------------------------------------------------------------------------------------------------------------ outcomes


def _outcome(call: Callable[[], Any], start: Snapshot, step: Any) -> Outcome:
    outcome = Outcome(start)
    try:
        result = call()
        _go_back(result, step)
    except Exception as error:
        outcome.error = error
        result = None
    outcome.structure = skeleton(result)
    for path, leaf in leaves(result):
        if is_a(leaf, (Tensor, bool, int, float)):
            value = leaf.ndarray.copy() if is_a(leaf, Tensor) else np.asarray(leaf)
            outcome.values["result", path] = value
            if is_a(leaf, float):
                outcome.numbers.add(("result", path))
    _note_state(outcome)
    return outcome


def _note_state(outcome: Outcome) -> None:
    """The tensors and gradients that are not what they were."""
    start = outcome.start
    gradients = {id(grad) for grad in start.gradients.values()}
    for tensor in start.tensors:
        if id(tensor) not in gradients and not _same_bits(tensor.buffer.whole, start.before(tensor)):
            outcome.values["updated", tensor] = tensor.ndarray.copy()
        old, new = start.gradients.get(id(tensor)), tensor._grad
        if new is not old or (new is not None and not _same_bits(new.buffer.whole, start.before(new))):
            outcome.values["gradient", tensor] = None if new is None else new.ndarray.copy()


def _same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _go_back(result: Any, step: Any) -> None:
    """Where the call leaves a graph to be differentiated (a compiled model), its backward is compared, too."""
    if step.way != "replay" or step.specialisations[0].backward is None:
        return
    tensors = [leaf for _, leaf in leaves(result) if is_a(leaf, Tensor)]
    live = [t for t in tensors if t.grad_fn is not None and not is_spent(t.grad_fn)]
    # Neither ones nor anything regular: a softmax has no gradient for ones.
    seeds = [make(np.cos(np.arange(t.ndarray.size)).astype(t.ndarray.dtype).reshape(t.ndarray.shape)) for t in live]
    if live:
        backward(tuple(live), tuple(seeds))


def _moved(call: Callable[[], Any], start: Snapshot, step: Any, seed: int) -> Outcome:
    """What the call does from another state that no one could tell from `start` but for the last bit of each number."""
    start.restore()
    draw = np.random.default_rng(seed)
    generators = {id(t.buffer.whole) for t in start.tensors if (t.label or "").startswith("generator.")}
    for key, (whole, _) in start.memories.items():
        if key not in generators and whole.flags.writeable:
            whole[...] = moved_by_a_rounding(whole, draw)
    return _outcome(call, start, step)


# ---------------------------------------------------------------------------------------------------------------- rows


def _rows(eager: Outcome, compiled: Outcome, lines: Provenance, moved: list[Outcome]) -> list[Row]:
    rows = []
    if eager.error is not None or compiled.error is not None or eager.structure != compiled.structure:
        rows.append(_row_of_ways(eager, compiled))
    keys = sorted(dict.fromkeys([*eager.values, *compiled.values]), key=lambda key: _KINDS.index(key[0]))
    found = {key: difference_of(eager.value(key), compiled.value(key)) for key in keys}
    if _is_single(eager.start):  # a Python float is made of tensors (item()), and no more exact than they are
        found |= {key: replace(found[key], dtype="float32") for key in eager.numbers & compiled.numbers}
    largest: dict[Any, float] = {}
    for (kind, _), difference in found.items():
        of = kind, difference.dtype
        largest[of] = max(largest.get(of, 0.0), difference.scale)
    for key, difference in found.items():
        floor = largest[key[0], difference.dtype] * SMALLEST_SCALE
        noise = [difference_of(eager.value(key), other.value(key)).absolute for other in moved]
        allowed = max(_allowed(difference, floor, ""), *(NOISE_FACTOR * each for each in noise), 0.0)
        if difference.absolute > allowed:
            allowed = max(allowed, _allowed(difference, floor, lines.coarsest(key)))
        rows.append(_row(key, difference, allowed, lines))
    return rows


def _is_single(start: Snapshot) -> bool:
    """True if tensors that a call computes with are float32."""
    return any(t.ndarray.dtype == np.float32 for t in start.tensors)


def _allowed(difference: Difference, floor: float, coarsest: str) -> float:
    """The largest absolute difference that roundings explain, if those are of numbers of the type `coarsest`; none for
    whole numbers."""
    of_result = difference.ulp_at(max(difference.scale, floor))
    if not of_result or not coarsest:
        return LIMIT_ULP * of_result
    return LIMIT_ULP * max(of_result, float(ml_dtypes.finfo(coarsest).eps) * max(difference.scale, floor))


def _row(key: tuple[str, Any], difference: Difference, allowed: float, lines: Provenance) -> Row:
    kind, what = key
    return Row(
        kind=kind,
        name=lines.name(key),
        shape=difference.shape,
        dtype=difference.dtype,
        ulp=difference.ulp,
        relative=difference.relative,
        where=difference.where,
        line=lines.line(key),
        ok=difference.absolute <= allowed,
        note=difference.note,
        key=key,
    )


def _row_of_ways(eager: Outcome, compiled: Outcome) -> Row:
    """The two calls end differently, or both raise."""

    def text(outcome: Outcome) -> str:
        return "returns" if outcome.error is None else f"raises {type(outcome.error).__name__}"

    same = type(eager.error) is type(compiled.error) and eager.structure == compiled.structure
    note = f"eager {text(eager)}, compiled {text(compiled)}" + ("" if same else ": not the same")
    return Row("call", "", (), "", 0.0 if same else np.inf, 0.0 if same else np.inf, (), "", same, note)
