"""Values on demand: the statements that compute a node at a position, down to loads from memory.

Movement is a change of the position on the way, so it costs no statement. A value that depends on no inner loop is
computed once, before the stage that asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ...ops.core import Kernel, Movement, Pointwise, Source
from ...ops.pointwise import cast_primitive
from ...ops.types import bfloat16, bool_, float16, float32
from ..graph import Node
from . import maps
from .index import Index, Loaded, Variable, flattened, released
from .literals import SUFFIXES, ctype, literal
from .maps import Position, Range
from .records import Condition, Counter, Let, Literal, Load, Operand, Statement, Value, variables

Ranges = tuple[Range, ...]
Origins = Callable[[Node], str]
#: The buffer of a node that is computed elsewhere.
Memory = Callable[[Node], "str | None"]
Key = tuple[Node, Position, Ranges]


class Unfusable(Exception):
    """These nodes cannot share a kernel: one is needed at a place where the others have not computed it."""


@dataclass
class Scope:
    """Statements of one nesting level, and what they have computed."""

    statements: list[Statement] = field(default_factory=list)
    known: dict[Key, Operand] = field(default_factory=dict)


@dataclass
class Values:
    """Computes nodes inside one kernel.

    `memory` names the buffer of a node that is computed elsewhere. `places` are the nodes that this kernel computes,
    each with its own position; at another position they are not available. `bound` are values that exist already
    (finished folds, the sum of a dot) at their place.
    """

    memory: Memory
    places: Mapping[Node, Position]
    outer: frozenset[Variable]
    bound: dict[Node, Operand] = field(default_factory=dict)
    row: Scope = field(default_factory=Scope)
    body: Scope = field(default_factory=Scope)
    count: int = 0
    origins: Origins = field(default=lambda node: str(node.origin), kw_only=True)

    def value(self, node: Node, position: Position, ranges: Ranges = ()) -> Operand:
        """The operand that holds `node` at `position`; where a range does not hold, any number may stand in it."""
        key = (node, position, ranges)
        for scope in (self.row, self.body):
            if key in scope.known:
                return scope.known[key]
        operand = self._computed(node, position, ranges)
        self._scope(variables(operand)).known[key] = operand
        return operand

    def _scope(self, depends: frozenset[Variable]) -> Scope:
        return self.row if depends <= self.outer else self.body

    def _computed(self, node: Node, position: Position, ranges: Ranges) -> Operand:
        away = node in self.places and tuple(map(released, position)) != self.places[node]
        if away and not _is_cheap_elsewhere(node, position):
            raise Unfusable(f"{node} at another position")
        if node in self.bound and not away:
            return self.bound[node]
        buffer = None if node in self.places else self.memory(node)
        if buffer is not None:
            index = released(flattened(position, node.type.shape))
            return Load(buffer, index, ranges, literal(0, node.type.dtype))
        lower = node.op.lower
        if isinstance(lower, Movement):
            return self._moved(node, position, ranges)
        if isinstance(lower, Pointwise):
            return self._pointwise(node, lower, position, ranges)
        if isinstance(lower, Source):
            return self._source(node, lower, position)
        if isinstance(lower, Kernel) and lower.kind in _INDIRECT:
            return _INDIRECT[lower.kind](self, node, position, ranges)
        raise Unfusable(f"{node} is not in memory")

    # ------------------------------------------------------------------------------------------ kinds of nodes

    def _pointwise(self, node: Node, lower: Pointwise, position: Position, ranges: Ranges) -> Operand:
        operands = []
        for name, arg in zip(node.op.inputs, node.args, strict=True):
            there = maps.broadcast_position(position, arg.type.shape)
            operands.append((name, self.value(arg, there, ranges)))
        return self.let(node, _form(node, form_of(node, lower)), tuple(operands))

    def _source(self, node: Node, lower: Source, position: Position) -> Operand:
        if lower.kind == "full":
            return Literal(literal(node.param("value"), node.type.dtype))
        if lower.kind == "iota":
            counter = Counter(released(position[node.param("axis")]))
            return self.let(node, f"({ctype(node.type.dtype)}){{x}}", (("x", counter),))
        raise Unfusable(f"{node} has no memory")

    def _moved(self, node: Node, position: Position, ranges: Ranges) -> Operand:
        *conditional, last = maps.sources(node, position)
        pad = node.op.lower.kind in maps.PADDED  # type: ignore[union-attr]
        value = self.value(node.args[last.operand], last.position, (*ranges, *last.ranges))
        if pad and last.ranges:
            value = self._padding(node, value, last.ranges, ranges)
        for source in reversed(conditional):
            there = self.value(node.args[source.operand], source.position, (*ranges, *source.ranges))
            value = there if not source.ranges else self.choice(node, source.ranges, there, value)
        return value

    def _padding(self, node: Node, value: Operand, own: Ranges, outside: Ranges) -> Operand:
        fill = literal(dict(node.params).get("value", 0), node.type.dtype)
        if isinstance(value, Load) and value.ranges == own and not outside:
            return Load(value.buffer, value.index, own, fill)
        return self.choice(node, own, value, Literal(fill))

    # -------------------------------------------------------------------------------------------- statements

    def choice(self, node: Node, ranges: Ranges, hit: Operand, miss: Operand) -> Operand:
        """`hit` where the ranges hold, else `miss`."""
        if isinstance(hit, Load) and set(hit.ranges) <= set(ranges):
            hit = replace(hit, ranges=())  # it is only read where they hold
        operands = (("condition", Condition(ranges)), ("x", hit), ("y", miss))
        return self.let(node, "{condition} ? {x} : {y}", operands)

    def let(self, node: Node, form: str, operands: tuple[tuple[str, Operand], ...], type: str = "") -> Value:
        """A new constant in the outermost scope that knows all operands."""
        depends = frozenset[Variable]().union(*(variables(operand) for _, operand in operands))
        self.count += 1
        name = f"v{self.count}"
        statement = Let(name, type or ctype(node.type.dtype), form, operands, node.op.name, self.origins(node))
        self._scope(depends).statements.append(statement)
        return Value(name, depends)

    def named(self, node: Node, operand: Operand) -> Operand:
        """`operand` as a name or a number, so that it can be used twice or after a store."""
        if isinstance(operand, (Value, Literal)):
            return operand
        return self.let(node, "{x}", (("x", operand),))

    def loaded(self, index: Node, position: Position, extent: int, wraps: bool, ranges: Ranges) -> Variable:
        """The index that stands in memory at `position`, counted from the end if it `wraps` and is negative."""
        operand = self.named(index, self.value(index, position, ranges))
        self._scope(variables(operand)).known[index, position, ranges] = operand
        if wraps:
            operand = self.let(index, f"{{x}} < 0 ? {{x}} + {extent} : {{x}}", (("x", operand),))
        text = operand.name if isinstance(operand, Value) else operand.text  # type: ignore[union-attr]
        return Loaded(text, extent, variables(operand))


def _is_cheap_elsewhere(node: Node, position: Position) -> bool:
    """An element picked by an index is computed again; anything else would be a second pass over the elements."""
    picked = any(isinstance(atom, Loaded) for index in position for atom, _ in released(index).terms)
    return picked and isinstance(node.op.lower, Pointwise)


def _gathered(values: Values, node: Node, position: Position, ranges: Ranges) -> Operand:
    """``x[..., index[position], ...]``."""
    x, index = node.args
    axis = node.param("axis")
    place = values.loaded(index, position, x.type.shape[axis], False, ranges)
    there = (*position[:axis], Index(((place, 1),)), *position[axis + 1 :])
    return values.value(x, there, ranges)


def _taken(values: Values, node: Node, position: Position, ranges: Ranges) -> Operand:
    """``x[index[leading], trailing]``."""
    x, index = node.args
    place = values.loaded(index, position[: index.type.ndim], x.type.shape[0], True, ranges)
    return values.value(x, (Index(((place, 1),)), *position[index.type.ndim :]), ranges)


def _one_hot(values: Values, node: Node, position: Position, ranges: Ranges) -> Operand:
    """A scatter of one element to each line along the axis: a comparison in place of a write."""
    x, index, src = node.args
    axis = node.param("axis")
    line = (*position[:axis], Index(), *position[axis + 1 :])
    place = values.loaded(index, line, x.type.shape[axis], False, ranges)
    hit = (Range(released(position[axis]) + Index(((place, -1),)), 0, 1),)
    before, written = values.value(x, position, ranges), values.value(src, line, ranges)
    if node.op.name == "scatter_add":
        written = values.let(node, "{x} + {y}", (("x", before), ("y", written)))
    return values.choice(node, hit, written, before)


def _picked(values: Values, node: Node, position: Position, ranges: Ranges) -> Operand:
    """``x[row, places[position]]``."""
    x, places = node.args
    place = values.loaded(places, position, x.type.shape[1], False, ranges)
    return values.value(x, (position[0], Index(((place, 1),))), ranges)


_INDIRECT = {"gather": _gathered, "pick": _picked, "take": _taken, "scatter_add": _one_hot, "scatter": _one_hot}


def is_one_hot(node: Node) -> bool:
    """True for a scatter that writes to each line along its axis once."""
    if node.op.name not in ("scatter", "scatter_add"):
        return False
    x, index, _ = node.args
    axis = node.param("axis")
    return index.type.shape == (*x.type.shape[:axis], 1, *x.type.shape[axis + 1 :])


#: Exact up to 2 ulp, and equal to `pow` at zeros, infinities and NaN. Reciprocals come first, so that nothing overflows
#: whose power is a number.
_POWERS = {
    1.5: "{x} == -INFINITY ? INFINITY : {x} * tg_sqrt{f}({x})",
    3.0: "{x} * {x} * {x}",
    4.0: "({x} * {x}) * ({x} * {x})",
    -1.0: "1 / {x}",
    -2.0: "(1 / {x}) * (1 / {x})",
}
# Roots in PyTorch where the exponent is a number; where it is a tensor they are powers, which differ at minus infinity
# and at -0.
_ROOTS = {0.5: "tg_sqrt{f}({x})", -0.5: "tg_rsqrt{f}({x})"}
_HALVES = {
    0.5: "{x} == -INFINITY ? INFINITY : tg_sqrt{f}({x} + 0)",
    -0.5: "{x} == -INFINITY ? 0 : tg_rsqrt{f}({x} + 0)",
}
_FORMS = {"pow": _POWERS | _ROOTS, "pow_tensor": _POWERS | _HALVES}
_OF_ANY_NUMBER = f"{{y}} == 0.5 ? {_ROOTS[0.5]} : {{y}} == -0.5 ? {_ROOTS[-0.5]} : tg_pow{{f}}({{x}}, {{y}})"


def form_of(node: Node, lower: Pointwise) -> str:
    """The C of a pointwise op; powers of floats with some constant exponents are products, quotients and roots."""
    if node.op.name in _FORMS and node.type.dtype.is_floating_point:
        if node.args[1].is_constant:
            return _FORMS[node.op.name].get(float(node.args[1].param("value")), lower.c)
        return _OF_ANY_NUMBER if node.op.name == "pow" else lower.c
    return lower.c


#: Between float32 and the bits of 16-bit numbers; all other conversions of these go through it.
CONVERSIONS = {
    (float32, float16): "tg_to_half({x})",
    (float32, bfloat16): "tg_to_bfloat({x})",
    (float16, float32): "tg_from_half({x})",
    (bfloat16, float32): "tg_from_bfloat({x})",
}


def _form(node: Node, c: str) -> str:
    """A pointwise expression with everything but the operands filled in."""
    if node.op is cast_primitive and node.type.dtype is bool_:
        return "{x} != 0"
    if node.op is cast_primitive:
        c = CONVERSIONS.get((node.args[0].type.dtype, node.type.dtype), c)
    replaced = {"f": SUFFIXES.get(node.args[-1].type.dtype, ""), "type": ctype(node.type.dtype)}
    replaced |= {name: str(value) for name, value in node.params if name != "dtype"}
    for name, text in replaced.items():
        c = c.replace(f"{{{name}}}", text)
    return c
