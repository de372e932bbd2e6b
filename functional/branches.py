"""Two branches in one recording: both run, each in a trial, and the condition picks among their results.

The gradient must be that of the branch that is taken alone. Multiplying the other one's with zero would make NaN of its
infinities, so every tensor from outside enters a branch through a *gate*, ``where(condition, t, t.detach())``, whose
derivative picks, too: what comes back from the branch that is not taken is replaced by zeros, whatever it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..ops import movement
from ..ops import reductions as folds
from ..ops.array import eager
from ..ops.comparison import where
from ..ops.core import Params, Primitive, current, interpreted
from ..ops.pointwise import converted
from ..ops.types import FLOATING, bool_
from ..tape.grad_mode import is_recording
from ..tape.nodes import AccumulateGrad, Edge, Node, PrimitiveNode
from ..tensors.tensor import Tensor
from ..tracing.refusals import Refusal, Refusing, unless_refused
from ..tracing.watch import Watcher, watched

GATE = "CondGateBackward0"


class Unrecordable(Refusal):
    """A branch does what cannot be picked from afterwards."""


class _Trial(Refusing):
    """The interpreter of one branch: hands ops to `outer`, with gates, and refuses what outlives the branch."""

    def __init__(self, outer: Any, gate: Callable[[Tensor], Tensor]) -> None:
        self.outer = outer
        self._gate = gate
        self._gated: dict[int, tuple[Tensor, Tensor]] = {}  # the first one keeps the id valid
        self._own: dict[int, Any] = {}  # the buffers that the branch has made

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        if primitive.is_view:
            out = self.outer.apply(primitive, operands, params)
            if out.buffer is getattr(operands[0], "buffer", None):
                return out  # of the same memory, so the gate is for whoever reads it
        out = self.outer.apply(primitive, [self._entering(o) for o in operands], params)
        return self._made(out)

    def _entering(self, operand: Any) -> Any:
        outside = isinstance(operand, Tensor) and id(operand.buffer) not in self._own
        if not outside or not operand.requires_grad or not is_recording():
            return operand
        if id(operand) not in self._gated:
            self._gated[id(operand)] = operand, interpreted(self.outer, self._gate, operand)
        return self._gated[id(operand)][1]

    def _made(self, out: Any) -> Any:
        self._own[id(out.buffer)] = out.buffer
        return out

    def give_up(self, what: str) -> NoReturn:
        self.refuse(Unrecordable(what))

    def literal(self, values: np.ndarray) -> Any:
        return self._made(self.outer.literal(values))

    def write(self, target: Any, value: Any) -> None:
        if id(target.buffer) not in self._own:
            self.give_up(f"writes to {target.label or 'a tensor from outside'}")
        self.outer.write(target, value)

    def read(self, array: Any, purpose: str) -> np.ndarray:
        self.give_up(f"needs numbers, for {purpose}")

    def item(self, array: Any) -> bool | int | float:
        self.give_up("needs numbers, for item()")

    def peek(self, array: Any) -> np.ndarray:
        return np.asarray(self.outer.peek(array))

    def require(self, array: Any, requirement: Any, facts: tuple[int, ...]) -> None:
        # Of the branch that is not taken, too: where it does not hold, eager mode decides.
        self.outer.require(array, requirement, facts)

    def cut(self, array: Any) -> None:
        self.outer.cut(array)

    def type_of(self, operand: Any) -> Any:
        return self.outer.type_of(operand)

    def is_number(self, operand: Any) -> bool:
        return bool(self.outer.is_number(operand))

    def constant(self, number: Any, dtype: Any) -> Any:
        return self.outer.constant(number, dtype)


class _TrialWatcher:
    """The recording's watcher, without what one branch alone must not do to the world."""

    def __init__(self, inner: Watcher, trial: _Trial) -> None:
        self._inner = inner
        self._trial = trial

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def deriving(self, origin: Any, function: Callable[..., Any], *args: Any) -> Any:
        """A backward pass would go on outside, where it frees what was saved and accumulates."""
        self._trial.give_up("computes gradients")

    def grad_written(self, tensor: Any) -> None:
        self._trial.give_up(f"sets .grad of {tensor.label or 'a tensor'}")

    def flag_written(self, tensor: Any) -> None:
        self._trial.give_up("sets requires_grad")

    def forbid(self, what: str, instead: str) -> None:
        self._trial.give_up(f"does more than compute: {what}")

    def transient_because(self, reason: str) -> None:
        self._trial.give_up(f"does more than compute: {reason}")


def tried(listening: Watcher, condition: Tensor, function: Callable[..., Any], operands: Any, when: bool) -> Any:
    """What `function`, the branch for `condition` being `when`, returns. Unrecordable if it does more than compute."""

    taken = bool(eager().peek(condition)) is when

    def gate(t: Tensor) -> Tensor:
        wall = t.detach()
        entering = where(condition, t, wall) if when else where(condition, wall, t)
        entering.grad_fn.rename(GATE)
        listening.gated(t, entering, taken)
        return entering

    trial = _Trial(current(), gate)
    watching: Any = _TrialWatcher(listening, trial)
    run = functools.partial(watched, watching, interpreted, trial, function, *operands)
    return unless_refused(trial, listening.trial, function, list(operands), run)


# ------------------------------------------------------------------------------------------------ what results come of


def now() -> int:
    """A mark: nodes of the tape with a smaller number were there before."""
    return Node("", ()).sequence


def sources(result: Tensor, since: int, strict: bool = False) -> set[Edge]:
    """Where the gradient of `result` leaves what was computed `since`: tensors that were there before, and leaves.

    With `strict` Unrecordable if on the way there is more than primitives, whose gradients are always there.
    """
    found: set[Edge] = set()
    seen: set[Node] = set()
    stack = [result.gradient_edge()] if result.requires_grad else []
    while stack:
        edge = stack.pop()
        node = edge.node
        if node is None:
            continue
        if node.title == GATE:  # it may be that of a branch around this one, made at any time
            stack += node.edges
        elif isinstance(node, AccumulateGrad) or node.sequence < since:
            found.add(edge)
        elif node not in seen:
            seen.add(node)
            stack += node.edges
            plain = isinstance(node, PrimitiveNode) and not (node.tensor_hooks or node.pre_hooks or node.post_hooks)
            if strict and not plain:
                raise Unrecordable("has a hook, or an autograd function of its own")
    return found


def linked(result: Tensor, operands: Iterable[Tensor], since: int) -> Tensor:
    """`result`, whose gradient for operands that it does not depend on is zero instead of none."""
    if not is_recording() or result.dtype.category < FLOATING:
        return result
    reached = sources(result, since)
    for operand in operands:
        if operand.requires_grad and operand.gradient_edge() not in reached:
            row = movement.reshape(operand, (operand.ndarray.size,))
            nothing = converted(folds.sum(movement.slice(row, (0,), (0,), (1,)), (0,)), result.dtype)
            result = where(current().constant(False, bool_), nothing, result)
    return result
