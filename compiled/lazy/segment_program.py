"""Running a segment: by numpy the first time, as a C program from the second time on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.graph import Builder, Graph, Node, Result
from ...ops.core import Step, interpreting
from ...ops.memory import read_first
from ...ops.movement import broadcast
from ...ops.pointwise import cast
from ...ops.types import Type, dtype_of
from ...ops.views import replay, shown, write_through
from ...runtime.program import DATA_POINTERS
from ..execution.binding import Binding
from ..execution.shape_cache import Programs
from .event_trie import Call, Compute, Operand, TrieInput, TrieNode, Write
from .program_calls import ProgramRun
from .tiers import Runs

Memories = Sequence[np.ndarray | None]  # by number; None for memory that is gone


# -------------------------------------------------------------------------------------------------------- by numpy


class NumpyRun:
    """The events one by one, as eager mode does them; fills the memories that are still alive.

    An interrupt leaves a run that goes on where it was. What an event computes can be computed again; a write cannot,
    since it may read what it writes. So it is noted in the same instruction that does it.
    """

    def __init__(self, way: Sequence[TrieNode], memories: Memories) -> None:
        self._events = [point.event for point in way]
        self._wholes = list(memories)
        self._arrays: dict[int, list[np.ndarray]] = {}  # by position of the event
        self._written: dict[int, list[None]] = {}
        self._calls: dict[int, ProgramRun] = {}
        self._tokens = [(i, n) for i, event in enumerate(self._events) for n in range(event.tokens if event else 0)]

    def finish(self) -> None:
        """Do what is left."""
        with np.errstate(all="ignore"):
            for position, event in enumerate(self._events):
                if isinstance(event, Write):
                    self._write(event, self._written.setdefault(position, []))
                elif position not in self._arrays:
                    self._arrays[position] = self._made(event, position)

    def _made(self, event: Any, position: int) -> list[np.ndarray]:
        if isinstance(event, Call):
            return self._called(event, position)
        return [self._computed(event) if isinstance(event, Compute) else self._met(event.memory, event.steps)]

    def _met(self, memory: int, steps: Sequence[Step]) -> np.ndarray:
        whole = self._wholes[memory]
        assert whole is not None
        return shown(whole, steps)

    def _called(self, event: Call, position: int) -> list[np.ndarray]:
        if position not in self._calls:
            given = {label: self._value(token) for label, token in event.operands}
            given.update((met.label, self._met(met.memory, met.steps)) for met in event.captured)
            self._calls[position] = event.program.run(given)
        computed = self._calls[position].finish()
        return [self._kept(memory, computed[name]) for memory, name in enumerate(event.results, event.first_result)]

    def _kept(self, memory: int, out: np.ndarray) -> np.ndarray:
        """The result in the memory that stands for it, if somebody still holds that."""
        there = self._wholes[memory]
        if there is None:
            there = self._wholes[memory] = out
        else:
            np.copyto(there, out)
        return there

    def _computed(self, event: Compute) -> np.ndarray:
        out = np.asarray(event.primitive.evaluate(*map(self._value, event.operands), **event.params))
        if event.is_view:
            return out
        return self._kept(event.memory, out)

    def _write(self, event: Write, done: list[None]) -> None:
        if not done:
            target, value = self._value(event.target), self._value(event.value)
            done.extend(map(np.copyto, (target,), (read_first(value, target),)))

    def _value(self, operand: Operand) -> Any:
        if not isinstance(operand, int):
            return operand
        position, index = self._tokens[operand]
        return self._arrays[position][index]


# ------------------------------------------------------------------------------------------------------------- by C


class _Drawing:
    """Events as nodes. Each memory has a current node, a write gives it another one."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.inputs: dict[int, Node] = {}
        self.nodes: list[Node] = []  # of each memory, now
        self.written: set[int] = set()
        self._seen: list[tuple[int, tuple[Step, ...]]] = []  # of each token: memory and view steps
        self._views: dict[Any, Node] = {}
        self._names: set[str] = set()

    def draw(self, way: Sequence[TrieNode]) -> None:
        """Add the nodes of all events."""
        for point in way:
            self.builder.origin = point.origin
            with interpreting(self.builder):
                if isinstance(point.event, TrieInput):
                    self._meet(point.event)
                elif isinstance(point.event, Compute):
                    self._compute(point.event)
                elif isinstance(point.event, Write):
                    self._write(point.event)
                elif isinstance(point.event, Call):
                    self._call(point.event)

    def _meet(self, event: TrieInput) -> None:
        if event.dtype is not None:
            node = self.builder.input(self._unique(event.name), Type(_dtype(event.dtype), tuple(event.shape)))
            self.inputs[event.memory] = node
            self.nodes.append(node)
        self._seen.append((event.memory, event.steps))

    def _compute(self, event: Compute) -> None:
        if event.is_view:
            first = event.operands[0]
            assert isinstance(first, int)
            memory, steps = self._seen[first]
            self._seen.append((memory, (*steps, Step(event.primitive, tuple(event.params.items())))))
            return
        operands = [self._node(o) for o in event.operands]
        self.nodes.append(self.builder.apply(event.primitive, operands, event.params))
        self._seen.append((event.memory, ()))

    def _write(self, event: Write) -> None:
        memory, steps = self._seen[event.target]
        value, of = self._node(event.value), self._node(event.target).type
        if value.type.dtype is not of.dtype:
            value = cast(value, of.dtype)
        if value.type.shape != of.shape:
            value = broadcast(value, of.shape)
        self.nodes[memory] = write_through(self.nodes[memory], steps, value)
        if memory in self.inputs:
            self.written.add(memory)

    def _call(self, event: Call) -> None:
        """The called graph, with the nodes of now in the places of its inputs."""
        for array, name in zip(event.arrays, event.names, strict=True):
            memory = len(self.nodes)
            node = self.builder.input(self._unique(name), Type(_dtype(array.dtype), array.shape))
            self.inputs[memory] = node
            self.nodes.append(node)
        inputs = {label: self._node(token) for label, token in event.operands}
        inputs.update({met.label: self._shown(met.memory, met.steps) for met in event.captured})
        inner = event.graph.mapped(lambda node: inputs[node.label] if node.is_input else node)
        places = {met.label: met for met in event.captured}
        returned = [result.node for result in inner.results if result.is_returned]
        for result in inner.results:
            if result.into is not None:
                met = places[result.into]
                self.nodes[met.memory] = write_through(self.nodes[met.memory], met.steps, result.node)
                if met.memory in self.inputs:
                    self.written.add(met.memory)
        for node in returned:
            self._seen.append((len(self.nodes), ()))
            self.nodes.append(node)

    def _node(self, operand: Operand) -> Node:
        if not isinstance(operand, int):
            return self.builder.constant(operand, dtype_of(operand))
        return self._shown(*self._seen[operand])

    def _shown(self, memory: int, steps: tuple[Step, ...]) -> Node:
        if not steps:
            return self.nodes[memory]
        key = (self.nodes[memory], steps)
        if key not in self._views:
            self._views[key] = replay(self.nodes[memory], steps)
        return self._views[key]

    def _unique(self, name: str) -> str:
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        return unique


class SegmentGraph:
    """A segment as a graph, and which memory is which of its inputs and results."""

    def __init__(self, name: str, way: Sequence[TrieNode], alive: tuple[int, ...]) -> None:
        drawing = _Drawing()
        drawing.draw(way)
        results = [Result(f"value_{memory}", drawing.nodes[memory]) for memory in alive]
        for memory in sorted(drawing.written):
            label = drawing.inputs[memory].label
            results.append(Result(f"new_{label}", drawing.nodes[memory], into=label))
        self.way, self.alive, self.drawing = way, alive, drawing
        self.graph = Graph(name, tuple(drawing.inputs.values()), tuple(results))
        self.inputs = {node.label: memory for memory, node in drawing.inputs.items()}
        self.results = {result.name: self.inputs[result.into] for result in results if result.into is not None}
        self.results.update({f"value_{memory}": memory for memory in alive})


class SegmentProgram:
    """A segment's C program and which memory stands in which place of its table."""

    def __init__(self, of: SegmentGraph, programs: Programs) -> None:
        way, alive, drawing = of.way, of.alive, of.drawing
        self.graph, self.inputs, self.results = of.graph, of.inputs, of.results
        self.program = programs.of(self.graph)
        self._binding = Binding(self.program)
        slots = self._binding.slot_of
        captured = _captured(way)
        for memory, array in captured.items():
            if drawing.inputs[memory].label in slots:
                self._binding.point(slots[drawing.inputs[memory].label], array)
        laid = _laid_out(way)
        self._inputs = [
            (slots[node.label], memory, memory in drawing.written)
            for memory, node in drawing.inputs.items()
            if node.label in slots and memory not in captured
        ]
        # Slot, memory, and whether it may lie in another order than that of its axes.
        self._results = [(self._binding.result_slots[f"value_{memory}"], memory, memory in laid) for memory in alive]
        self._lock = self._binding.lock
        self.runs: Runs | None = None  # where it is to be known whether it is worth its building

    def run(self, memories: Memories, codes: list[int], after: list[Callable[[], None]]) -> None:
        """Run the segment: read and write the memories, fill those that are alive. What C returns is noted in `codes`;
        what is to be done then, and may be done twice, in `after`.
        """
        kept, words = [], self._binding.slots.words
        with self._lock:
            after.clear()
            for slot, memory, written in self._inputs:
                array = memories[memory]
                assert array is not None
                flags = array.flags
                if not (flags.c_contiguous and flags.aligned):
                    copy = np.array(array, order="C")
                    kept.append(copy)
                    if written:
                        after.append(functools.partial(np.copyto, array, copy))
                    array = copy
                words[slot] = DATA_POINTERS[id(array) >> 3]
            for slot, memory, is_laid in self._results:
                array = memories[memory]
                assert array is not None
                if is_laid:
                    copy = np.empty(array.shape, array.dtype)
                    after.append(functools.partial(np.copyto, array, copy))
                    array = copy
                words[slot] = DATA_POINTERS[id(array) >> 3]
            self._binding.run(codes)


class Run:
    """One run of a program; after an interrupt `finish` does what is left."""

    def __init__(self, program: SegmentProgram, memories: Memories) -> None:
        self.program = program
        self._memories = memories
        self._codes: list[int] = []
        self._after: list[Callable[[], None]] = []

    def finish(self) -> None:
        """Run it, unless that has been done."""
        if self._codes != [0]:
            self.program.run(self._memories, self._codes, self._after)
        for put_back in self._after:
            put_back()


def _captured(way: Sequence[TrieNode]) -> dict[int, np.ndarray]:
    """The memories that are the same arrays each time and can be read and written where they are."""
    found: dict[int, np.ndarray] = {}
    for point in way:
        if isinstance(point.event, Call):
            for memory, array in enumerate(point.event.arrays, point.event.first_result - len(point.event.arrays)):
                if array.flags.c_contiguous and array.flags.aligned:
                    found[memory] = array
    return found


def _laid_out(way: Sequence[TrieNode]) -> set[int]:
    """The memories of results that eager mode lays out in another order than that of their axes."""
    events = [point.event for point in way]
    return {event.memory for event in events if isinstance(event, Compute) and event.strides is not None}


def _dtype(of: np.dtype) -> Any:
    return dtype_of(np.empty((), of))
