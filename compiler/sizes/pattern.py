"""Two recordings of one function for two sizes, as one pattern: what is the same, what follows from the sizes, and what
else differs.

Shapes, bounds and counts that differ have to follow from the sizes of the inputs as sums and products. Numbers that
differ (the 3.0 that a mean divides by, and 1 / 3) need no formula: they become inputs, with a value for each size. A
third size is served by what is made of the pattern only after a recording for that size was compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from ...ops.movement import broadcast_primitive
from ...ops.sources import full_primitive, input_primitive
from ...ops.types import DType, Type, number_in
from ..graph import Graph, Node, Result
from ..printing import graph_text
from .standins import LARGEST_NUMBER, MOST_SIZES, SETS, NotSized, StandIns

Pair = tuple[int, int]
Explain = Callable[[int, int], int]


@dataclass(frozen=True, eq=False, repr=False)
class SizedGraph(Graph):
    """A graph with stand-ins. Its text has the sizes by name; it does not read back."""

    standins: StandIns

    def __str__(self) -> str:
        return graph_text(self.name, self.nodes(), self.results, self.standins.named)

    __repr__ = __str__


@dataclass(frozen=True)
class Flat:
    """One value of a recorded graph by numbers. An operand is the place of another value, or a number with its type.

    Equal numbers share a node in a graph. Which are equal may depend on the size, so they are looked at where they are
    read.
    """

    op: Any
    args: tuple[int | tuple[DType, Any], ...]
    params: tuple[tuple[str, Any], ...]
    type: Type
    origin: Any


def flat(graph: Graph) -> tuple[list[Flat], list[int | tuple[DType, Any]]]:
    """The values of a graph in order, and which of them its results are."""
    places: dict[Node, int | tuple[DType, Any]] = {}
    values: list[Flat] = []
    for node in graph.nodes():
        if node.is_constant:
            places[node] = (node.type.dtype, node.param("value"))
            continue
        places[node] = len(values)
        values.append(Flat(node.op, tuple(places[a] for a in node.args), node.params, node.type, node.origin))
    return values, [places[result.node] for result in graph.results]


@dataclass(frozen=True)
class Number:
    """A number whose value depends on the size: the input that holds it, and what it was for two sizes."""

    label: str
    dtype: DType
    one: Any
    other: Any


class Pattern:
    """What two recordings have in common; NotSized if they do not differ by sizes alone."""

    def __init__(self, one: Graph, other: Graph) -> None:
        if [n.label for n in one.inputs] != [n.label for n in other.inputs] or not _results_agree(one, other):
            raise NotSized("the recordings have other inputs or results")
        self.name, self.inputs = other.name, len(other.inputs)
        self.results = [(r.name, r.into, r.is_check) for r in other.results]
        self.sizes = _sizes_of(one, other)
        self.standins = SETS[0].first(len(self.sizes))  # that sizes are written with here
        self.numbers: dict[tuple[DType, str], Number] = {}
        self._explain = explain = self._explanation()
        (values, ends), (others, other_ends) = flat(one), flat(other)
        self.values = [self._value(a, b, explain) for a, b in zip(values, _as_long(others, values), strict=True)]
        self.ends = self._operands(tuple(ends), tuple(other_ends))

    # -------------------------------------------------------------------------------------------------- merging

    def _explanation(self) -> Explain:
        """Two integers as the stand-in for what they are for two sizes."""
        simple = list(zip(self.sizes, self.standins.numbers, strict=True))
        products = [((a[0] * b[0], a[1] * b[1]), p * q) for (a, p), (b, q) in combinations_with_replacement(simple, 2)]

        def explain(one: int, other: int) -> int:
            for known in (simple, products):
                for pair, number in known:
                    factor = _factor((one, other), pair)
                    if factor:
                        return factor * number
            for (a, b), number in [*simple, *products]:
                if a != b and (other - one) % (b - a) == 0:
                    factor = (other - one) // (b - a)
                    return factor * number + one - factor * a
            raise NotSized(f"{one} became {other}, which does not follow from the sizes")

        return explain

    def _value(self, one: Flat, other: Flat, explain: Explain) -> Flat:
        if one.op is not other.op:
            raise NotSized(f"{one.op.name} became {other.op.name} at {other.origin}")
        params, number = self._params(one, other, explain)
        args = self._operands(one.args, other.args)
        return Flat(one.op, (*args, *number), params, _merged(one.type, other.type, explain), other.origin)

    def _params(self, one: Flat, other: Flat, explain: Explain) -> tuple[Any, tuple[Any, ...]]:
        """The parameters, and for what is filled with a number that differs, that number."""
        if one.op is not full_primitive:
            return _merged(one.params, other.params, explain), ()
        first, second = dict(one.params), dict(other.params)
        number = self._operands(((one.type.dtype, first["value"]),), ((other.type.dtype, second["value"]),))
        fixed = isinstance(number[0], tuple)
        if not fixed:
            del first["value"], second["value"]
        return _merged(tuple(first.items()), tuple(second.items()), explain), () if fixed else number

    def _operands(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(one) != len(other):
            raise NotSized("a value is made of more or fewer others")
        return tuple(self._operand(a, b) for a, b in zip(one, other, strict=True))

    def _operand(self, one: Any, other: Any) -> Any:
        if isinstance(one, int) or isinstance(other, int):
            if one != other:
                raise NotSized("a value is made of others")
            return one
        if one[0] is not other[0]:
            raise NotSized("a number has another type")
        if repr(one[1]) == repr(other[1]):
            return one
        key = (one[0], f"{one[1]!r} {other[1]!r}")
        return self.numbers.setdefault(key, Number(f"of_sizes_{len(self.numbers)}", one[0], one[1], other[1]))

    # ------------------------------------------------------------------------------------------------ a graph of it

    def graph(self, standins: StandIns) -> Graph:
        """The graph for all sizes, with a set of stand-ins. Numbers that depend on the size are its last inputs."""
        numbers = {n: _input(n.label, Type(n.dtype, ())) for n in self.numbers.values()}
        return self._graph(standins, numbers, tuple(numbers.values()))

    def example(self, sizes: tuple[int, ...]) -> tuple[Graph, dict[str, Any]]:
        """The graph for real sizes, with what the numbers probably are for them; NotSized if there is no telling."""
        numbers = {number: self._guess(number, sizes) for number in self.numbers.values()}
        constants = {n: _constant(n.dtype, value) for n, value in numbers.items()}
        return self._graph(StandIns(sizes), constants, ()), {n.label: value for n, value in numbers.items()}

    def _guess(self, number: Number, sizes: tuple[int, ...]) -> Any:
        """A number for other sizes, if it is a count or one divided by a count."""
        for form in (lambda count: count, lambda count: 1 / count):
            try:
                counts = round(form(number.one)), round(form(number.other))
                polynomial = self.standins.polynomial(self._explain(*counts))
                known = [number_in(form(count), number.dtype).item() for count in counts]
                if repr(known) == repr([number.one, number.other]):
                    return number_in(form(polynomial.at(sizes)), number.dtype).item()
            except (ArithmeticError, ValueError):
                continue
        raise NotSized("a number of which only its values for two sizes are known")

    def _graph(self, standins: StandIns, numbers: Mapping[Number, Node], more: tuple[Node, ...]) -> Graph:
        constants: dict[str, Node] = {}
        made: list[Node] = []

        def operand(arg: Any) -> Node:
            if isinstance(arg, int):
                return made[arg]
            if isinstance(arg, Number):
                return numbers[arg]
            return constants.setdefault(f"{arg[0]} {arg[1]!r}", _constant(*arg))

        translate = self.translated(standins)
        for value in self.values:
            params, of = _mapped(value.params, translate), _mapped(value.type, translate)
            made.append(_node(value, tuple(operand(a) for a in value.args), params, of))
        results = [
            Result(name, operand(e), into, is_check)
            for (name, into, is_check), e in zip(self.results, self.ends, strict=True)
        ]
        return Graph(self.name, (*made[: self.inputs], *more), tuple(results))

    def translated(self, standins: StandIns) -> Callable[[int], int]:
        """An integer of the pattern in another set of stand-ins (or in real sizes)."""

        def translate(number: int) -> int:
            if abs(number) < LARGEST_NUMBER:
                return number
            return self.standins.polynomial(number).at(standins.numbers)

        return translate

    # ---------------------------------------------------------------------------------------------------- fitting

    def fit(self, graph: Graph) -> tuple[tuple[int, ...], dict[str, Any]]:
        """The sizes and the values of the numbers for which the pattern is `graph`; NotSized if there are none."""
        values, ends = flat(graph)
        sizes = self.sizes_of(graph)
        translate = self.translated(StandIns(sizes))
        numbers: dict[str, Any] = {}
        for value, real in zip(self.values, _as_long(values, self.values), strict=True):
            self._fit_value(value, real, translate, numbers)
        self._fit_operands(self.ends, tuple(ends), numbers)
        return sizes, numbers

    def sizes_of(self, graph: Graph) -> tuple[int, ...]:
        """The sizes that the inputs of a recorded graph have; NotSized if it has other inputs or results."""
        if [n.label for n in graph.inputs] != [value.params[0][1] for value in self.values[: self.inputs]]:
            raise NotSized("the recording has other inputs")
        if [(r.name, r.into, r.is_check) for r in graph.results] != self.results:
            raise NotSized("the recording has other results")
        found: dict[int, int] = {}
        for value, real in zip(self.values[: self.inputs], graph.inputs, strict=True):
            if value.type.ndim != real.type.ndim:
                raise NotSized(f"{real.label} has another number of axes")
            for number, extent in zip(value.type.shape, real.type.shape, strict=True):
                if number in self.standins.numbers:
                    found.setdefault(number, extent)
        return tuple(found[number] for number in self.standins.numbers)

    def _fit_value(self, value: Flat, real: Flat, translate: Callable[[int], int], numbers: dict[str, Any]) -> None:
        args, params = real.args, real.params
        if value.op is full_primitive and value.args:
            args, params = ((real.type.dtype, real.params[1][1]),), (real.params[0], *real.params[2:])
        same = value.op is real.op and repr(_mapped(value.params, translate)) == repr(params)
        if not same or _mapped(value.type, translate) != real.type:
            raise NotSized(f"{real.op.name} at {real.origin} does not follow from the sizes as it did before")
        self._fit_operands(value.args, args, numbers)

    def _fit_operands(self, args: tuple[Any, ...], real: tuple[Any, ...], numbers: dict[str, Any]) -> None:
        if len(args) != len(real):
            raise NotSized("a value is made of more or fewer others")
        for arg, now in zip(args, real, strict=True):
            if isinstance(arg, Number):
                fits = not isinstance(now, int) and now[0] is arg.dtype
                fits = fits and repr(numbers.setdefault(arg.label, now[1])) == repr(now[1])
            else:
                fits = type(arg) is type(now) and repr(arg) == repr(now)
            if not fits:
                raise NotSized("a value is made of others than before")


def _as_long(values: list[Flat], like: list[Flat]) -> list[Flat]:
    if len(values) != len(like):
        raise NotSized("there are more or fewer operations")
    return values


def _results_agree(one: Graph, other: Graph) -> bool:
    return [(r.name, r.into, r.is_check) for r in one.results] == [(r.name, r.into, r.is_check) for r in other.results]


def _sizes_of(one: Graph, other: Graph) -> list[Pair]:
    """The pairs of different extents that inputs have at the same places."""
    pairs: dict[Pair, None] = {}
    for a, b in zip(one.inputs, other.inputs, strict=True):
        if a.type.dtype is not b.type.dtype or a.type.ndim != b.type.ndim:
            raise NotSized(f"{b.label} has another type")
        pairs.update(dict.fromkeys(p for p in zip(a.type.shape, b.type.shape, strict=True) if p[0] != p[1]))
    sizes: list[Pair] = []
    for pair in sorted(pairs):
        if not any(_factor(pair, known) for known in sizes):
            sizes.append(pair)
    if not 0 < len(sizes) <= MOST_SIZES:
        raise NotSized(f"{len(sizes)} sizes differ")
    return sizes


def _factor(pair: Pair, of: Pair) -> int:
    """c with ``pair == c * of``, 0 if there is none."""
    factor = next((p // o for p, o in zip(pair, of, strict=True) if o), 0)
    return factor if (factor * of[0], factor * of[1]) == pair else 0


def _merged(one: Any, other: Any, explain: Explain) -> Any:
    """Two parameters or types as one, with stand-ins where integers differ."""
    if type(one) is int and type(other) is int:
        return one if one == other else explain(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(_merged(a, b, explain) for a, b in zip(one, other, strict=True))
    if isinstance(one, Type) and isinstance(other, Type) and one.dtype is other.dtype:
        return Type(one.dtype, _merged(one.shape, other.shape, explain))
    if repr(one) != repr(other):
        raise NotSized(f"{one!r} became {other!r}")
    return one


def _mapped(tree: Any, change: Callable[[int], int]) -> Any:
    if type(tree) is int:
        return change(tree)
    if isinstance(tree, tuple):
        return tuple(_mapped(item, change) for item in tree)
    return Type(tree.dtype, _mapped(tree.shape, change)) if isinstance(tree, Type) else tree


def _input(label: str, of: Type) -> Node:
    return Node(input_primitive, (), (("name", label), ("of", of)), of)


def _constant(dtype: DType, value: Any) -> Node:
    return Node(full_primitive, (), (("shape", ()), ("value", value), ("dtype", dtype)), Type(dtype, ()))


def _node(value: Flat, args: tuple[Node, ...], params: Any, of: Type) -> Node:
    """The node of a value. What is filled with a number of the size's is that number, broadcast."""
    if value.op is full_primitive and args:
        return Node(broadcast_primitive, args, (("shape", of.shape),), of, value.origin)
    return Node(value.op, args, params, of, value.origin)
