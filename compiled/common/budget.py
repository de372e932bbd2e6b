"""Whether noting a program's steps, and building programs for them, is worth what it costs.

To record the parts of a step, to note its events for the first time, and to build C for it takes as long as many steps
take in eager mode. So a program begins in eager mode, until it has computed for about as long as all this takes: one
that ends before costs what it does in eager mode. That follows from counts and from what the cache holds, none from a
clock, so that two runs of a program with the same cache do the same. What the cache holds may be what an earlier run
has found out by the clock: whether its compiled steps were the quicker. With TRACEGRAD_WARM_UP=0 nothing is eager at
first.
"""

from __future__ import annotations

import math
import os
import weakref
from typing import Any

from ...ops.products import dot_primitive
from ...ops.spatial.convolution import conv_input_primitive, conv_primitive
from ...tape.fused import FusedNode
from ...tape.nodes import AccumulateGrad, PrimitiveNode, Saved, count_now
from .classes import is_a
from .expenses import Expenses
from .step_times import StepTimes

# Microseconds on a usual processor. Only how they compare matters.
A_NODE, AN_ELEMENT, AN_UPDATE, A_PIECE = 80.0, 0.0015, 0.005, 20.0  # of eager mode, with the backward pass
A_PRODUCT = 2.5e-5  # a multiplication and addition of a product or convolution, and of each of its derivatives
TO_COMPILE, TO_COMPILE_A_NODE = 800_000.0, 12_000.0  # a step: what recordings, events and numpy beside builds take
LARGE = 256  # nodes of a step, as long as none has ended: what makes more is inference that keeps histories
MOST_KINDS = 256  # of steps that are told apart: models come and go
FEW = 64  # steps of a model that is one of many, which come anew
PIECES = 32  # of the library's work, after which nodes are counted as long as no step has ended
SAVED = 0.9  # of a step's time in eager mode: what a program has to take at most to be worth it
MANY = 16  # noted steps of which some should have been done by programs
TRIED = 0.15  # of what a run takes in eager mode: what it may cost to find out whether programs are quicker
LONGER = 4  # times as long as the earlier run: what was not worth it then may be now
AGAIN = 1.5  # times what an earlier run has spent, in which it was worth it, may be spent


class _Cost:
    """What a step takes. Models that come anew for a few steps, one after another, have one between them."""

    def __init__(self) -> None:
        self.steps = 0
        self.reached = 0  # nodes behind the loss of one
        self.arrays = 0.0  # what computing with the arrays of one takes

    def passed(self, loss: Any) -> None:
        """A backward pass begins at `loss`."""
        self.steps += 1
        if self.steps & (self.steps - 1) == 0:  # later and later
            self.reached, self.arrays = cost_of_step(loss)


class _Kind:
    """The steps that begin with one module: another model has to earn its programs by steps of its own."""

    def __init__(self, cost: _Cost) -> None:
        self.work = 0.0  # before its first step
        self.steps = 0
        self.nodes = 0  # of the latest step in eager mode
        self.cost = cost
        self.first, self.latest = (-1, 0.0), -1  # passes of the program before the first step, its work; the latest
        self.is_worth_compiling = False

    def made(self, nodes: int) -> float:
        """So many nodes have come, and no step of this kind has ended; what they take."""
        self.nodes = min(self.nodes + nodes, LARGE)
        return A_NODE * nodes

    def passed(self, loss: Any, nodes: int) -> float:
        """A backward pass begins at `loss`, with so many nodes since the latest one; what the step takes.

        What it does not reach is no work of steps: an agent acts thousands of times, its histories dropped, before it
        learns for the first time and between two times.
        """
        self.steps += 1
        self.cost.passed(loss)
        self.nodes = self.cost.reached if self.steps == 1 else min(nodes, self.cost.reached)
        return self.takes

    @property
    def takes(self) -> float:
        """What a step takes."""
        return self.cost.arrays + A_NODE * self.nodes


class Budget:
    """What a program has computed so far."""

    def __init__(self) -> None:
        self.work = 0.0  # what eager mode takes for it
        self.steps = 0  # backward passes in eager mode
        self.passes = 0  # in all, noted ones, too
        self._pieces = 0
        self._sequence = count_now()
        self._kinds: dict[int, tuple[weakref.ref[Any], _Kind]] = {}  # by the module's identity
        self._latest: weakref.WeakKeyDictionary[type, int] = weakref.WeakKeyDictionary()  # by class: its latest module
        self._kind = self._other = _Kind(_Cost())  # of the present step; of those without a module
        self.has_called = False  # the present step has called a module
        self._least: float | None = None  # work before anything is compiled; None: what a step is decides
        self.expenses = Expenses()
        if os.environ.get("TRACEGRAD_WARM_UP") == "0":
            self._least = 0.0
            self.expenses.are_bounded = False
        self.times = StepTimes()
        self._eager: float | None = None  # seconds that a step takes, as an earlier run has found out

    def called(self, module: Any) -> bool:
        """A module is called; True if a step begins with that."""
        if self.has_called:
            return False
        self.has_called = True
        of, self._kind = self._kinds.get(id(module), (None, self._other))
        if of is None or of() is not module:
            cost = self._cost_of(module)
            if len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()
            self._kind = _Kind(cost)
            self._kinds[id(module)] = weakref.ref(module), self._kind
            self._latest[type(module)] = id(module)
        return True

    def _cost_of(self, module: Any) -> _Cost:
        """What steps of a new module take: as those of the latest one of its class, if that is gone after a few."""
        latest = self._latest.get(type(module), 0)
        of, kind = self._kinds.get(latest, (None, self._other))
        if of is None or of() is not None or not 0 < kind.steps <= FEW:
            return _Cost()
        del self._kinds[latest]
        return kind.cost

    def piece(self) -> None:
        """A piece of the library's work is done in eager mode."""
        self._add(A_PIECE)
        self._pieces += 1
        if not self._kind.steps and self._pieces % PIECES == 0:
            self._add(self._kind.made(self._count_nodes()))

    def step(self, loss: Any) -> None:
        """A backward pass in eager mode begins at `loss`."""
        self.steps += 1
        if not self._kind.steps:
            self._kind.first = self.passes, self.work
        self.work += self._kind.passed(loss, self._count_nodes())
        self._ended(True)

    def noted_step(self) -> None:
        """A backward pass is noted: the step was like the latest one in eager mode."""
        self._sequence = count_now()
        takes = self._kind.takes or 1e6 * (self._eager or 0.0)
        self.work += takes
        self.expenses.noted(takes)
        self._ended(False)

    def _add(self, work: float) -> None:
        self.work += work
        self._kind.work += work

    def _ended(self, is_eager: bool) -> None:
        self._kind.latest = self.passes
        self.passes += 1
        self.has_called, self._kind = False, self._other
        self.times.ended(is_eager)

    def experience(self) -> dict[str, float] | None:
        """What a later run of the program, of the same length, may want to know: None if nothing was noted.

        Programs are worth it if their steps are quicker than eager ones by more than recordings and what numpy did of
        noted steps have cost. Where too few were done to tell, they are tried if that costs little.
        """
        eager, built = self._eager or self.times.median(True), self.times.median(False)
        first = self.times.first_noted
        if eager is None or not first:
            return None
        whole, usual = eager * self.passes, eager if built is None else built
        cost = max(0.0, sum(first) - usual * len(first))
        if built is not None:
            is_worth_it = built <= SAVED * eager and cost + built * self.passes <= whole
        else:
            is_in_vain = self.expenses.rests > 0 or self.passes - self.steps >= MANY
            is_worth_it = not is_in_vain and cost <= TRIED * whole
        return {"is_worth_it": is_worth_it, "eager": eager, "work": self.work, "spent": self.expenses.in_all}

    def learn(self, earlier: dict[str, float]) -> None:
        """Go by what an earlier run of the program has found out."""
        self._least = 0.0 if earlier["is_worth_it"] else LONGER * earlier["work"]
        self._eager = earlier["eager"]
        self.expenses.allow(AGAIN * earlier["spent"])

    def _count_nodes(self) -> int:
        before, self._sequence = self._sequence, count_now()
        return self._sequence - before - 1

    @property
    def is_worth_compiling(self) -> bool:
        """True once the program has computed for so long that compiling a step like the present one may be worth it.

        Of models that take turns (those of a GAN) all steps count from the first one of the present kind on, and what
        is worth it for one of them is for all: a program that is compiled by halves gains little.
        """
        if not self.expenses.are_allowed(self.work) or self.expenses.are_awaited(self.work):
            return False
        if self._least is not None:
            return self.work >= self._least
        if not self._kind.is_worth_compiling:
            begun, before = self._kind.first
            kinds = [kind for _, kind in self._kinds.values() if kind.steps and kind.latest >= begun >= 0]
            kinds.append(self._kind)
            work = self.work - before if self._kind.steps else self._kind.work
            cost = TO_COMPILE + TO_COMPILE_A_NODE * max(kind.nodes for kind in kinds)
            if work < cost:
                return False
            self.expenses.allow(cost)
            for kind in kinds:
                kind.is_worth_compiling = True
        return True


def cost_of_step(loss: Any) -> tuple[int, float]:
    """How many nodes there are behind `loss`, and what eager mode takes for their numbers and those of their leaves."""
    cost, seen = 0.0, set[int]()
    waiting: list[tuple[Any, tuple[int, ...]]] = [(loss.gradient_edge().node, loss.shape)]  # with a result's shape
    while waiting:
        node, made = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if is_a(node, AccumulateGrad):
            cost += AN_UPDATE * node.variable.ndarray.size
            continue
        turns = getattr(node, "turns", ())  # of a recurrent layer, which is one node
        if turns:
            cost += A_NODE * len(turns) + AN_ELEMENT * sum(kept.tensor.ndarray.size for kept in node.operands)
        shapes = getattr(node, "shapes", ())
        given = [shape for shape in shapes if shape is not None]
        cost += AN_ELEMENT * sum(map(math.prod, given)) + A_PRODUCT * _multiplications(node, made)
        reached = given if len(given) == len(node.edges) else _by_operand(node)
        waiting += [(edge.node, shape) for edge, shape in zip(node.edges, reached, strict=True)]
    return len(seen), cost


def _by_operand(node: Any) -> list[tuple[int, ...]]:
    """The shapes of the operands of `node`, empty where its derivative does not go."""
    shapes: list[tuple[int, ...]] = [()] * len(node.edges)
    for i, shape in zip(getattr(node, "on", ()), getattr(node, "shapes", ()), strict=False):
        shapes[i] = shape
    return shapes


def _multiplications(node: Any, made: tuple[int, ...]) -> int:
    """How many multiplications a matrix product or convolution takes with its derivatives, if `node` is one whose
    result has the shape `made`."""
    if is_a(node, FusedNode):
        summed = node.fused.summed
        return 0 if summed is None else math.prod(made) * node.shapes[summed][-1] * (1 + len(node.edges))
    primitive = getattr(node, "primitive", None)
    if primitive is dot_primitive:
        x, y = _shape(node, 0), _shape(node, 1)
        terms = math.prod(made) * (x[-1] if x else y[-2])
    elif primitive is conv_primitive:
        terms = math.prod(made) * math.prod(_shape(node, 1)[1:])
    elif primitive is conv_input_primitive:
        terms = math.prod(_shape(node, 0)) * math.prod(_shape(node, 1)[1:])
    else:
        return 0
    return terms * (1 + len(node.on))


def _shape(node: PrimitiveNode, i: int) -> tuple[int, ...]:
    """The shape of operand `i`, empty if `node` does not know it."""
    if i in node.on:
        return node.shapes[node.on.index(i)]
    kept = node.known.get(node.primitive.inputs[i])
    return kept.tensor.shape if is_a(kept, Saved) else ()
