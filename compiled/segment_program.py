"""Running a segment: by numpy the first time, as a C program from the second time on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler.graph import Builder, Graph, Node, Result
from ..ops.core import Step, interpreting
from ..ops.movement import broadcast
from ..ops.pointwise import cast
from ..ops.types import Type, dtype_of
from ..ops.views import replay, write_through
from ..runtime.program import address_of
from .binding import Binding
from .programs import Programs
from .trail import Call, Compute, Meet, Operand, Point, Write

Memories = Sequence[np.ndarray | None]  # by number; None for memory that is gone


# -------------------------------------------------------------------------------------------------------- by numpy


def run_by_numpy(way: Sequence[Point], memories: Memories) -> None:
    """Do the events one by one, as eager mode does, and fill the memories that are still alive."""
    wholes = list(memories)
    arrays: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for point in way:
            event = point.event
            if isinstance(event, Meet):
                whole = wholes[event.memory]
                assert whole is not None
                arrays.append(_seen(whole, event.steps))
            elif isinstance(event, Compute):
                arrays.append(_computed(event, arrays, wholes))
            elif isinstance(event, Write):
                np.copyto(arrays[event.target], _value(event.value, arrays))
            elif isinstance(event, Call):
                arrays += _called(event, arrays, wholes)


def _seen(whole: np.ndarray, steps: Sequence[Step]) -> np.ndarray:
    for step in steps:
        whole = step.primitive.evaluate(whole, **dict(step.params))
    return whole


def _computed(event: Compute, arrays: list[np.ndarray], wholes: list[np.ndarray | None]) -> np.ndarray:
    out = np.asarray(event.primitive.evaluate(*(_value(o, arrays) for o in event.operands), **event.params))
    if event.is_view:
        return out
    there = wholes[event.memory]
    if there is None:
        wholes[event.memory] = out
        return out
    np.copyto(there, out)
    return there


def _called(event: Call, arrays: list[np.ndarray], wholes: list[np.ndarray | None]) -> list[np.ndarray]:
    given = {label: arrays[token] for label, token in event.operands}
    for met in event.captured:
        whole = wholes[met.memory]
        assert whole is not None
        given[met.label] = _seen(whole, met.steps)
    computed = event.run(given)
    for memory, name in enumerate(event.results, event.first_result):
        there = wholes[memory]
        if there is None:
            wholes[memory] = computed[name]
        else:
            np.copyto(there, computed[name])
    return wholes[event.first_result : event.first_result + len(event.results)]  # type: ignore[return-value]


def _value(operand: Operand, arrays: list[np.ndarray]) -> Any:
    return arrays[operand] if isinstance(operand, int) else operand


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

    def draw(self, way: Sequence[Point]) -> None:
        """Add the nodes of all events."""
        for point in way:
            self.builder.origin = point.origin
            with interpreting(self.builder):
                if isinstance(point.event, Meet):
                    self._meet(point.event)
                elif isinstance(point.event, Compute):
                    self._compute(point.event)
                elif isinstance(point.event, Write):
                    self._write(point.event)
                elif isinstance(point.event, Call):
                    self._call(point.event)

    def _meet(self, event: Meet) -> None:
        if event.dtype is not None:
            node = self.builder.input(self._unique(event.name), Type(_dtype(event.dtype), event.shape))
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
        returned = [result.node for result in inner.results if result.into is None]
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


class SegmentProgram:
    """A segment's C program and which memory stands in which place of its table."""

    def __init__(self, name: str, way: Sequence[Point], alive: tuple[int, ...], programs: Programs) -> None:
        drawing = _Drawing()
        drawing.draw(way)
        results = [Result(f"value_{memory}", drawing.nodes[memory]) for memory in alive]
        for memory in sorted(drawing.written):
            label = drawing.inputs[memory].label
            results.append(Result(f"new_{label}", drawing.nodes[memory], into=label))
        self.graph = Graph(name, tuple(drawing.inputs.values()), tuple(results))
        self.program = programs.of(self.graph)
        self._binding = Binding(self.program)
        slots = self._binding.slot_of
        captured = _captured(way)
        for memory, array in captured.items():
            if drawing.inputs[memory].label in slots:
                self._binding.point(slots[drawing.inputs[memory].label], array)
        self._inputs = [
            (slots[node.label], memory, memory in drawing.written)
            for memory, node in drawing.inputs.items()
            if node.label in slots and memory not in captured
        ]
        self._results = [(self._binding.result_slots[f"value_{memory}"], memory) for memory in alive]
        self._lock = self._binding.lock

    def run(self, memories: Memories) -> None:
        """Run the segment: read and write the memories, fill those that are alive."""
        set_address = self._binding.slots.set_address
        after: list[Callable[[], None]] = []
        kept = []
        with self._lock:
            for slot, memory, written in self._inputs:
                array = memories[memory]
                assert array is not None
                flags = array.flags
                if not (flags.c_contiguous and flags.aligned):
                    copy = np.array(array, order="C")
                    kept.append(copy)
                    if written:
                        after.append(lambda array=array, copy=copy: np.copyto(array, copy))  # type: ignore[misc]
                    array = copy
                set_address(slot, address_of(array))
            for slot, memory in self._results:
                array = memories[memory]
                assert array is not None
                if not array.flags.c_contiguous:
                    copy = np.empty(array.shape, array.dtype)
                    after.append(lambda array=array, copy=copy: np.copyto(array, copy))  # type: ignore[misc]
                    array = copy
                set_address(slot, address_of(array))
            self._binding.run()
        for put_back in after:
            put_back()


def _captured(way: Sequence[Point]) -> dict[int, np.ndarray]:
    """The memories that are the same arrays each time and can be read and written where they are."""
    found: dict[int, np.ndarray] = {}
    for point in way:
        if isinstance(point.event, Call):
            for memory, array in enumerate(point.event.arrays, point.event.first_result - len(point.event.arrays)):
                if array.flags.c_contiguous and array.flags.aligned:
                    found[memory] = array
    return found


def _dtype(of: np.dtype) -> Any:
    return dtype_of(np.empty((), of))
