"""What re-recorded calls have to do, as a tree of events: calls that begin alike share the way.

A *segment* is everything between two moments at which numbers are needed. Its events are counted through: a *token* is
the number of an array that an event brought (met, computed, seen as a view), a *memory* the number of the memory that
this array shows. Two segments with the same events and the same arrays still alive at the end are the same program.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...compiler.graph import Graph, Origin
from ...ops.core import Params, Primitive, Step
from ...ops.lazy import lazy
from ..common.exactness import exact

FEW = 8192  # elements; ops on more are worth being put off

Constant = np.generic
Operand = int | Constant  # a token, or a number of the program


@dataclass(frozen=True, eq=False)
class TrieInput:
    """An array that was there before the segment: a new memory (called `name`), or another view of a known one."""

    memory: int
    steps: tuple[Step, ...]
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype | None  # None for a view of a known memory

    @property
    def tokens(self) -> int:
        return 1

    @property
    def memories(self) -> int:
        return int(self.dtype is not None)


@dataclass(frozen=True, eq=False)
class Compute:
    """A primitive: its result lies in a memory of its own, or is a view of its first operand.

    `strides` are those of eager mode's result where it is laid out in another order than that of its axes.
    """

    primitive: Primitive
    operands: tuple[Operand, ...]
    params: Params
    memory: int
    is_view: bool
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None = None

    @property
    def tokens(self) -> int:
        return 1

    @property
    def memories(self) -> int:
        return int(not self.is_view)

    def memory_for_result(self) -> np.ndarray:
        """Memory for the result, laid out as in eager mode: random draws that fill it go by its order."""
        if self.strides is None:
            return np.empty(self.shape, self.dtype)
        return np.ndarray(self.shape, self.dtype, strides=self.strides)


@dataclass(frozen=True, eq=False)
class Write:
    """An in-place write: the memory behind `target` is another one from here on."""

    target: int
    value: Operand
    tokens = 0
    memories = 0


@dataclass(frozen=True, eq=False)
class Met:
    """A captured array of a called program: the memory that it shows, and the view steps from there to it."""

    label: str
    memory: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """A compiled graph, called as a whole: a model's forward, a loss, their backward passes, an optimizer's step.

    `operands` are the inputs that differ from call to call, by label; `captured` those that are the same arrays each
    time. `arrays` are the memories that the event brings with the captured ones, `numbers` their numbers by identity.
    Behind them come the memories of the results `results`; results with `into` are writes. `program` can do the
    call by itself.
    """

    graph: Graph
    operands: tuple[tuple[str, int], ...]
    captured: tuple[Met, ...]
    arrays: tuple[np.ndarray, ...]
    names: tuple[str, ...]  # of `arrays`
    numbers: Mapping[int, int]
    results: tuple[str, ...]
    first_result: int
    written: frozenset[int]  # identities of arrays
    owners: frozenset[int]  # identities of what owns the captured memories
    program: Any  # the `ProgramCall`

    @property
    def tokens(self) -> int:
        return len(self.results)

    @property
    def memories(self) -> int:
        return len(self.arrays) + len(self.results)


Event = TrieInput | Compute | Write | Call


def writes(event: Event) -> bool:
    """True if the event changes memory that was there before."""
    return isinstance(event, Write) or (isinstance(event, Call) and bool(event.written))


@dataclass(eq=False)
class TrieNode:
    """The state after some events: `event` is the last of them, `next` what has come after it so far."""

    before: TrieNode | None
    event: Event | None
    tokens: int  # how many there are
    memories: int
    origin: Origin
    next: dict[Hashable, TrieNode] = field(default_factory=dict)
    programs: dict[tuple[int, ...], Any] = field(default_factory=dict)  # by the memories that are still alive
    # Events like each other but for their numbers: the keys of these events, None once the numbers are data.
    kinds: dict[Hashable, list[Hashable] | None] = field(default_factory=dict)
    writes: bool = False  # one of the events was a write
    captured: tuple[Call, ...] = ()  # calls whose `numbers` know memories
    passes: list[Any] = field(default_factory=list)  # functions that note backward passes
    observed: int = 0  # how many passes none of them has noted
    # By the point that a pass from here has led to: its leaves, by identity.
    leaves_of_passes: dict[TrieNode, tuple[int, ...]] = field(default_factory=dict)
    ends_of_passes: set[TrieNode] = field(default_factory=set)  # where backward passes from here have led
    expected: dict[int, list[Any]] = field(default_factory=dict)  # by what is called: functions that note such calls
    ops: dict[Any, Any] = field(default_factory=dict)  # that are known to come here (`expected_ops.py`)
    has_data: bool = False  # some of them have numbers that are data
    noted: dict[int, int] = field(default_factory=dict)  # by what was called: how often

    @lazy
    def computed(self) -> tuple[int, ...]:
        """The memories that the events compute, by number."""
        numbers: list[int] = []
        for event in (point.event for point in self.way()):
            if isinstance(event, Compute) and not event.is_view:
                numbers.append(event.memory)
            elif isinstance(event, Call):
                numbers += range(event.first_result, event.first_result + len(event.results))
        return tuple(numbers)

    @lazy
    def small_ops(self) -> int | None:
        """How many ops there are, 0 if calls of programs come first; None if such calls come behind ops, or if one of
        them is of more than a few numbers."""
        count = 0
        for event in (point.event for point in self.way()):
            if isinstance(event, Call):
                return None if count else 0
            if isinstance(event, Compute) and not event.is_view and math.prod(event.shape) > FEW:
                return None
            count += not isinstance(event, TrieInput)
        return count

    def way(self) -> list[TrieNode]:
        """The points from the first event to this one."""
        return self.since(None) or []

    def since(self, before: TrieNode | None) -> list[TrieNode] | None:
        """The points behind `before`, None for the start, up to this one; None if there is no way from there."""
        points, point = [], self
        while point.before is not None and point is not before:
            points.append(point)
            point = point.before
        return points[::-1] if before is None or point is before else None


def start() -> TrieNode:
    """A tree without events."""
    return TrieNode(None, None, 0, 0, Origin())


def key_of(constant: Constant) -> Hashable:
    """Equal for the same number of the same type, bit by bit: nan is itself, 0.0 is not -0.0."""
    return constant.dtype.char, constant.tobytes()


def parameter_key(item: tuple[str, Any]) -> tuple[str, Hashable]:
    """A parameter by its text where equal numbers may be different ones: 0.0 and -0.0."""
    name, value = item
    return name, exact(value)
