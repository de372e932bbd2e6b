"""The derivative of a loop: another loop, which runs the other way, and products outside of it.

What is carried back is the cotangent of the carried values. What the body's derivative rules name is read from the
loop's value where it was stacked, or computed again from what was. The cotangent of a constant (a recurrent weight) is
a sum over all turns: its terms are not added up in the loop, their factors are stacked, and one product over all turns
takes the place of many.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core import bind, interpreting
from ..movement import concatenate
from ..sources import zeros
from ..types import Type
from ..vjp import names_needed, pull_back
from .body import Body, Tracer, Value, finished, needed
from .loop import Loop, Stream

Wanted = tuple[bool, ...]


@dataclass(frozen=True)
class Source:
    """An operand of the loop back: ``of`` says whether ``key`` counts the operands, what the body was given as
    cotangents (of all stacked results and then of the last carried values), or the invariants; "out" is the loop's
    value, "zeros" is nothing carried back."""

    of: str
    key: int = 0


@dataclass(frozen=True)
class Stacked:
    """``[length, *type.shape]``: a stream of the loop back, or a result of it."""

    of: str  # stream, result
    key: int
    type: Type


@dataclass(frozen=True)
class Term:
    """A part of a constant's cotangent, to be made of what is stacked: ``kind`` is product, sum, reshape, transpose."""

    kind: str
    stacks: tuple[Stacked, ...] = ()
    swapped: tuple[bool, ...] = ()
    axes: tuple[int, ...] = ()
    inner: Term | None = None


@dataclass(frozen=True)
class Reverse:
    """The loop back, what it is given, and where the cotangents are found afterwards."""

    loop: Loop
    operands: tuple[Source, ...]
    prelude: Body  # what is the same in each turn, from the operands in `fixed`
    fixed: tuple[int, ...]
    streams: tuple[int | None, ...]  # for each stream of the loop, the result of the loop back that is its cotangent
    constants: tuple[tuple[Term, ...], ...]


@functools.lru_cache(maxsize=256)
def reverse_of(loop: Loop, given: Wanted, wanted: Wanted) -> Reverse:
    """The way back for cotangents of the results that are `given` (all stacked results, then all last carried values),
    towards the operands that are `wanted`."""
    tracer = Tracer()
    with interpreting(tracer):
        return _Maker(loop, given, wanted).made()


class _Maker:
    def __init__(self, loop: Loop, given: Wanted, wanted: Wanted) -> None:
        self.loop, self.body = loop, loop.body
        self.given, self.wanted = given, wanted
        self.values: dict[int, Value] = {}  # the body's own values, in the loop back
        self.sources: dict[Value, tuple[Source, int]] = {}  # streams of the loop back: what they read, and from where
        self.constants: dict[Value, int] = {}  # constants of the loop back: the operand
        self.incoming = [Value(self.body.inputs[k]) for k in range(loop.carries)]
        self.stacked: dict[Value, int] = {}  # what the loop back stacks

    def made(self) -> Reverse:
        loop, body = self.loop, self.body
        cotangents = self._swept()
        carried = [self._joined(cotangents.get(k, [])) or zeros(body.inputs[k]) for k in range(loop.carries)]
        streams = []
        for place, stream in enumerate(loop.streams):
            cotangent = self._joined(cotangents.get(loop.carries + place, []))
            streams.append(self._stack(cotangent) if cotangent is not None and self.wanted[stream.operand] else None)
        first = loop.carries + len(loop.streams)
        terms = tuple(
            tuple(self._term(value) for value, _ in cotangents.get(first + place, []))
            for place in range(len(loop.constants))
        )
        return self._assembled(carried, tuple(streams), terms)

    # -------------------------------------------------------------------------------------------- the body's values

    def value(self, number: int) -> Value:
        """A value of the body as the loop back knows it: read where it lies, or computed again."""
        if number not in self.values:
            self.values[number] = self._known(number)
        return self.values[number]

    def _known(self, number: int) -> Value:
        loop, of = self.loop, self.body.types[number]
        place = number - loop.carries
        if place < 0:
            return self._stream(Source("out"), loop.before(number), of)
        if place < len(loop.streams):
            stream = loop.streams[place]
            return self._stream(Source("operand", stream.operand), stream.offset, of)
        if number < len(self.body.inputs):
            value = Value(of)
            self.constants[value] = loop.constants[place - len(loop.streams)]
            return value
        if number in self.body.results:
            return self._stream(Source("out"), loop.after(self.body.results.index(number)), of)
        step = self.body.steps[number - len(self.body.inputs)]
        again: Value = bind(step.primitive, *(self.value(a) for a in step.args), **dict(step.params))
        return again

    def _stream(self, source: Source, offset: int, of: Type) -> Value:
        value = Value(of)
        self.sources[value] = source, offset
        return value

    # -------------------------------------------------------------------------------------------- cotangents

    def _swept(self) -> dict[int, list[tuple[Value, int]]]:
        """The terms of each value's cotangent, each with the step that it comes from."""
        body, count = self.body, len(self.body.inputs)
        active = self._active()
        found: dict[int, list[tuple[Value, int]]] = {}
        for place, number in enumerate(body.results):
            if place < self.loop.carries:
                found.setdefault(number, []).append((self.incoming[place], -1))
            if self.given[place]:
                cotangent = self._stream(Source("given", place), 0, body.types[number])
                found.setdefault(number, []).append((cotangent, -1))
        for number in range(len(body.types) - 1, count - 1, -1):
            g = self._joined(found.get(number, [])) if number in active else None
            if g is None:
                continue
            step = body.steps[number - count]
            positions = tuple(i for i, a in enumerate(step.args) if a in active and step.primitive.derivative(i))
            known = self._named(number, names_needed(step.primitive, positions))
            for i in positions:
                shape = body.types[step.args[i]].shape
                back = pull_back(step.primitive, i, g, known, dict(step.params), shape)
                found.setdefault(step.args[i], []).append((back, number))
        return found

    def _active(self) -> set[int]:
        """The values that depend on what is carried or wanted."""
        loop, body = self.loop, self.body
        operands = [*(s.operand for s in loop.streams), *loop.constants]
        active = set(range(loop.carries))
        active.update(loop.carries + place for place, operand in enumerate(operands) if self.wanted[operand])
        for number, step in enumerate(body.steps, len(body.inputs)):
            reached = any(a in active and step.primitive.derivative(i) for i, a in enumerate(step.args))
            if reached and body.types[number].dtype.is_floating_point:
                active.add(number)
        return active

    def _named(self, number: int, names: frozenset[str]) -> Mapping[str, Any]:
        """What derivative rules may name."""
        step = self.body.steps[number - len(self.body.inputs)]
        types = self.body.types
        if step.primitive.variadic:
            return {f"{step.primitive.inputs[0][1:]}_types": tuple(types[a] for a in step.args)}
        known: dict[str, Any] = {"out_type": types[number]}
        known.update({"out": self.value(number)} if "out" in names else {})
        for name, a in zip(step.primitive.inputs, step.args, strict=True):
            known[f"{name}_type"] = types[a]
            known[f"{name}_by_columns"] = self._is_transposed(a)
            known.update({name: self.value(a)} if name in names else {})
        return known

    def _is_transposed(self, number: int) -> bool:
        """Whether a value of the body is the transpose of something that is no transpose itself."""
        count = len(self.body.inputs)
        step = self.body.steps[number - count] if number >= count else None
        if step is None or step.primitive.name != "transpose" or self.body.types[number].ndim != 2:
            return False
        return not self._is_transposed(step.args[0])

    def _joined(self, terms: Sequence[tuple[Value, int]]) -> Value | None:
        """The sum of a cotangent's terms. Those of slices that lie side by side are put together instead."""
        tiles = self._tiles(terms)
        if tiles is not None:
            return tiles
        total: Any = None
        for value, _ in terms:
            total = value if total is None else total + value
        return total

    def _tiles(self, terms: Sequence[tuple[Value, int]]) -> Value | None:
        pieces = [self._piece(value, number) for value, number in terms]
        if len(pieces) < 2 or any(piece is None for piece in pieces):
            return None
        placed = sorted((p for p in pieces if p is not None), key=lambda piece: piece[:2])
        axis = placed[0][0]
        ends = [0, *(start + value.type.shape[axis] for _, start, value in placed)]
        side_by_side = all(a == axis and start == end for (a, start, _), end in zip(placed, ends, strict=False))
        whole = terms[0][0].type.shape[axis]
        return concatenate([value for *_, value in placed], axis) if side_by_side and ends[-1] == whole else None

    def _piece(self, value: Value, number: int) -> tuple[int, int, Value] | None:
        """Axis, start and cotangent of a slice along one axis, whose cotangent `value` is with zeros around it."""
        if number < 0 or not value.is_("update_slice"):
            return None
        starts, update = value.param("starts"), value.args[1]
        shape = value.type.shape
        cut = [axis for axis, extent in enumerate(shape) if update.type.shape[axis] != extent]
        plain = set(value.param("steps")) == {1} and len(cut) == 1
        return (cut[0], starts[cut[0]], update) if plain else None

    # ---------------------------------------------------------------------------------------- outside of the loop

    def _term(self, value: Value) -> Term:
        """How a constant's cotangent is made of stacks; at worst its terms themselves are stacked."""
        if value.is_("dot") and value.type.ndim == 2:
            factors = [self._factor(arg) for arg in value.args]
            return Term("product", tuple(s for s, _ in factors), tuple(swapped for _, swapped in factors))
        if value.is_("sum"):
            return Term("sum", (self._stack_ref(value.args[0]),), axes=(0, *(a + 1 for a in value.param("axes"))))
        if value.is_("reshape"):
            return Term("reshape", axes=value.param("shape"), inner=self._term(value.args[0]))
        if value.is_("transpose"):
            return Term("transpose", axes=value.param("permutation"), inner=self._term(value.args[0]))
        return Term("sum", (self._stack_ref(value),), axes=(0,))

    def _factor(self, value: Value) -> tuple[Stacked, bool]:
        swapped = value.is_("transpose")
        return self._stack_ref(value.args[0] if swapped else value), swapped

    def _stack_ref(self, value: Value) -> Stacked:
        if value in self.sources:
            return Stacked("stream", list(self.sources).index(value), value.type)
        return Stacked("result", self._stack(value), value.type)

    def _stack(self, value: Value) -> int:
        """The number of the result that stacks `value`."""
        return self.loop.carries + self.stacked.setdefault(value, len(self.stacked))

    # -------------------------------------------------------------------------------------------- the loop back

    def _assembled(
        self, carried: Sequence[Value], streams: tuple[int | None, ...], terms: tuple[tuple[Term, ...], ...]
    ) -> Reverse:
        loop = self.loop
        results = [*carried, *self.stacked]
        fixed = list(self.constants)
        invariant = invariants(results, fixed)
        constants = [v for v in needed(results, invariant) if v in self.constants]
        prelude = finished(fixed, invariant)
        body = finished([*self.incoming, *self.sources, *constants, *invariant], results)
        count = len(loop.results)
        operands = [
            Source("given", count + k) if self.given[count + k] else Source("zeros", k) for k in range(loop.carries)
        ]
        read = list(dict.fromkeys(source for source, _ in self.sources.values()))
        operands += [*read, *(Source("operand", self.constants[v]) for v in constants)]
        operands += [Source("invariant", n) for n in range(len(invariant))]
        back = Loop(
            body=body,
            length=loop.length,
            carries=loop.carries,
            streams=tuple(
                Stream(loop.carries + read.index(source), offset) for source, offset in self.sources.values()
            ),
            constants=tuple(range(loop.carries + len(read), len(operands))),
            backwards=not loop.backwards,
        )
        return Reverse(back, tuple(operands), prelude, tuple(self.constants[v] for v in fixed), streams, terms)


def invariants(results: Sequence[Value], fixed: Sequence[Value]) -> list[Value]:
    """The values that depend on `fixed` alone and that something else reads: to be computed before the loop."""
    same = set(fixed)
    found: dict[Value, None] = {}
    order = needed(results)
    for value in order:
        if value.op is not None and value.args and all(a in same or _is_number(a) for a in value.args):
            same.add(value)
    for value in order:
        if value not in same:
            found.update({a: None for a in value.args if a in same and a.op is not None})
    found.update({v: None for v in results if v in same and v.op is not None})
    return list(found)


def _is_number(value: Value) -> bool:
    return value.op is not None and not value.args
