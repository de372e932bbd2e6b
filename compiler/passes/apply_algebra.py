"""A table of laws that hold bit for bit in IEEE arithmetic: with NaN, infinities and signed zeros (NaN payloads aside).

What does not hold is not here: x * 0, x - x, x / x (NaN), x + 0 (-0 becomes +0), x ** 0.5 (sqrt(-0) is -0, -inf), any
regrouping of sums and products (rounding).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from ...ops.core import REGISTRY, Pointwise, Primitive
from ...ops.movement import broadcast_primitive, update_slice_primitive
from ...ops.sources import full_primitive
from ...ops.types import (
    DType,
    bfloat16,
    bool_,
    broadcast_shapes,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ..demands import asks_as_much
from ..graph import Builder, Graph, Node
from .fold_constants import filled

Rule = Callable[[Node], "Node | None"]


def apply_algebra(graph: Graph, settled: set[Node] | None = None) -> Graph:
    """The graph with every law applied wherever it fits; none where an error of eager mode's would get lost (an index
    out of range in ``x[index] ** 0``)."""
    found = graph.mapped(_rewritten, settled)
    return found if found is graph or asks_as_much(found, graph) else graph


def _rewritten(node: Node) -> Node:
    for law in _laws_of(node.op):
        found = law.rule(node)
        if found is not None:
            return found
    return node


# ------------------------------------------------------------------------------------------- asking, and building


def _made(node: Node, op: str, *args: Node, **params: object) -> Node:
    """An op in `node`'s place, with its origin."""
    return Builder(node.origin).apply(REGISTRY[op], args, params)


def _reshaped(node: Node, x: Node) -> Node:
    return _made(node, "reshape", x, shape=node.type.shape)


def _number(node: Node) -> bool | int | float | None:
    """The number that fills `node`, None if it is computed."""
    return node.param("value") if node.op is full_primitive else None


def _is(node: Node, number: float) -> bool:
    """True for constants of this value; zeros by their sign."""
    value = _number(node)
    return value is not None and value == number and math.copysign(1, value) == math.copysign(1, number)


def _leaves_sums(node: Node) -> bool:
    """True for what can be added to any x: -0.0, for +0 would turn -0 into +0. Other types have one zero."""
    return _is(node, -0.0 if node.type.dtype.is_floating_point else 0)


def _typed(node: Node, x: Node) -> Node | None:
    """x, if it can stand for `node`."""
    return x if x.type == node.type else None


def _other(node: Node, is_neutral: Callable[[Node], bool]) -> Node | None:
    """The other operand, where one is neutral."""
    x, y = node.args
    return _typed(node, x) if is_neutral(y) else _typed(node, y) if is_neutral(x) else None


def _left(node: Node, is_neutral: Callable[[Node], bool]) -> Node | None:
    x, y = node.args
    return _typed(node, x) if is_neutral(y) else None


def _operand_of(op: str, node: Node) -> Node | None:
    """x, if `node` is op(x)."""
    return node.args[0] if node.op.name == op else None


def _twice(node: Node) -> Node | None:
    """x, if node is f(f(x))."""
    inner = _operand_of(node.op.name, node.args[0])
    return _typed(node, inner) if inner is not None else None


# ------------------------------------------------------------------------------------------------------ arithmetic


def _minus_one(node: Node) -> Node | None:
    x = _other(node, lambda n: _is(n, -1))
    return None if x is None else _made(node, "neg", x)


def _by_power_of_two(node: Node) -> Node | None:
    x, y = node.args
    value = _number(y)
    if not value or not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return None
    smallest = float(np.finfo(y.type.dtype.numpy).tiny)
    if min(abs(value), abs(1 / value)) < smallest:
        return None  # a subnormal would be rounded
    return _made(node, "mul", x, filled(1 / value, y.type, y.origin))


def _plus_negative(node: Node) -> Node | None:
    x, y = node.args
    for kept, negated in ((x, y), (y, x)):
        operand = _operand_of("neg", negated)
        if operand is not None:
            return _made(node, "sub", kept, operand)
    return None


def _minus_negative(node: Node) -> Node | None:
    x, y = node.args
    operand = _operand_of("neg", y)
    return None if operand is None else _made(node, "add", x, operand)


def _both_negative(node: Node) -> Node | None:
    x, y = (_operand_of("neg", a) for a in node.args)
    return None if x is None or y is None else _made(node, node.op.name, x, y)


def _square(node: Node) -> Node | None:
    x, y = node.args
    return _made(node, "mul", x, x) if _is(y, 2) and x.type == node.type else None


def _power_of_zero(node: Node) -> Node | None:
    return filled(1, node.type, node.origin) if _number(node.args[1]) == 0 else None


def _idempotent(node: Node) -> Node | None:
    x, y = node.args
    return _typed(node, x) if x is y else None


# ---------------------------------------------------------------------------------------------------------- choice


def _decided(node: Node) -> Node | None:
    condition, x, y = node.args
    known = _number(condition)
    return None if known is None else _typed(node, x if known else y)


def _same_branches(node: Node) -> Node | None:
    _, x, y = node.args
    return _typed(node, x) if x is y else None


def _negated_condition(node: Node) -> Node | None:
    condition, x, y = node.args
    negated = _operand_of("logical_not", condition)
    if negated is None or negated.type.dtype is not bool_:
        return None
    return _made(node, "where", negated, y, x)


def _within_bounds(node: Node) -> Node | None:
    """What lies within its bounds is not changed by them. Of bounds that are 0, machines may take either zero."""
    condition, x, bounded = node.args
    tested = condition.args if condition.op.name == "logical_and" else (condition,)
    inner = bounded
    for test in reversed(tested):
        limited = {"ge": "maximum", "le": "minimum"}.get(test.op.name)
        if limited is None or limited != inner.op.name or test.args[0] is not x:
            return None
        if not _number(test.args[1]) or _number(test.args[1]) != _number(inner.args[1]):
            return None
        inner = inner.args[0]
    return _typed(node, bounded) if inner is x else None


# ----------------------------------------------------------------------------------------------------------- casts

# Types that hold every value of another one.
_HOLDS: dict[DType, tuple[DType, ...]] = {
    bool_: (int32, int64, float32, float64),
    uint8: (int16, int32, int64, float32, float64),
    int8: (int16, int32, int64, float32, float64),
    int16: (int32, int64, float32, float64),
    int32: (int64, float64),
    float32: (float64,),
}


def _cast_of_cast(node: Node) -> Node | None:
    x = _operand_of("cast", node.args[0])
    if x is None or node.args[0].type.dtype not in _HOLDS.get(x.type.dtype, ()):
        return None
    if x.type.dtype.is_floating_point and node.type.dtype.category == 1:
        return None  # beyond the integers' range the machine decides, and not for both floating types alike
    return _made(node, "cast", x, dtype=node.type.dtype)


def _cast_and_back(node: Node) -> Node | None:
    x = _operand_of("cast", node.args[0])
    short = x is not None and x.type.dtype is node.type.dtype and node.type.dtype in (float16, bfloat16)
    return _typed(node, x) if short and node.args[0].type.dtype in (float32, float64) else None  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- movement


def _own_type(node: Node) -> Node | None:
    return _typed(node, node.args[0])


def _reshape_of_reshape(node: Node) -> Node | None:
    x = _operand_of("reshape", node.args[0])
    return None if x is None else _reshaped(node, x)


def _transpose_of_transpose(node: Node) -> Node | None:
    x = _operand_of("transpose", node.args[0])
    if x is None:
        return None
    inner = node.args[0].param("permutation")
    return _made(node, "transpose", x, permutation=tuple(inner[axis] for axis in node.param("permutation")))


def _transpose_as_reshape(node: Node) -> Node | None:
    extents = node.args[0].type.shape
    moved = [axis for axis in node.param("permutation") if extents[axis] != 1]
    return _reshaped(node, node.args[0]) if moved == sorted(moved) else None


def _broadcast_of_broadcast(node: Node) -> Node | None:
    x = _operand_of("broadcast", node.args[0])
    return None if x is None else _made(node, "broadcast", x, shape=node.type.shape)


def _broadcast_as_reshape(node: Node) -> Node | None:
    x = node.args[0]
    return _reshaped(node, x) if x.type.size == node.type.size != 0 else None


def _without_broadcast(node: Node) -> Node | None:
    args = tuple(a.args[0] if a.op is broadcast_primitive else a for a in node.args)
    if args == node.args or broadcast_shapes(*(a.type.shape for a in args)) != node.type.shape:
        return None
    return Node(node.op, args, node.params, node.type, node.origin)


def _before_broadcast(node: Node) -> Node | None:
    if len(node.args) != 1 or node.args[0].op is not broadcast_primitive:
        return None
    small = _made(node, node.op.name, node.args[0].args[0], **dict(node.params))
    return _made(node, "broadcast", small, shape=node.type.shape)


def _whole_slice(node: Node) -> Node | None:
    return _typed(node, node.args[0])  # of its operand's shape there is one slice only


def _slice_of_update(node: Node) -> Node | None:
    whole = node.args[0]
    if whole.op is not update_slice_primitive or node.param("starts") != whole.param("starts"):
        return None
    return _typed(node, whole.args[1]) if node.param("steps") == whole.param("steps") else None


def _whole_update(node: Node) -> Node | None:
    return _typed(node, node.args[1])


def _one_part(node: Node) -> Node | None:
    return node.args[0] if len(node.args) == 1 else None


# ------------------------------------------------------------------------------------------------------ reductions


def _folds_nothing(node: Node) -> bool:
    shape = node.args[0].type.shape
    return node.args[0].type.dtype is node.type.dtype and all(shape[axis] == 1 for axis in node.param("axes"))


def _fold_of_one(node: Node) -> Node | None:
    return _reshaped(node, node.args[0]) if _folds_nothing(node) else None


def _sum_of_one(node: Node) -> Node | None:
    one = _fold_of_one(node)
    if one is None or not node.type.dtype.is_floating_point:
        return one
    return _made(node, "add", one, Builder().constant(0.0, node.type.dtype))


# ------------------------------------------------------------------------------------------------------- the table


class Law(NamedTuple):
    """What holds, for which ops (``*``: every pointwise op), and the function that applies it."""

    says: str
    ops: str
    rule: Rule


LAWS = (
    Law("x * 1 = x", "mul", lambda n: _other(n, lambda y: _is(y, 1))),
    Law("x * -1 = -x", "mul", _minus_one),
    Law("-x * -y = x * y, -x / -y = x / y", "mul div", _both_negative),
    Law("x / 1 = x", "div", lambda n: _left(n, lambda y: _is(y, 1))),
    Law("x / 2^k = x * 2^-k", "div", _by_power_of_two),
    Law("x + -0 = x", "add", lambda n: _other(n, _leaves_sums)),
    Law("x + -y = x - y", "add", _plus_negative),
    Law("x - 0 = x", "sub", lambda n: _left(n, lambda y: _is(y, 0))),
    Law("x - -y = x + y", "sub", _minus_negative),
    Law("-(-x) = x, not(not x) = x", "neg logical_not", _twice),
    Law("x ** 0 = 1 (NaN ** 0 too)", "pow pow_tensor", _power_of_zero),
    Law("x ** 1 = x", "pow pow_tensor", lambda n: _left(n, lambda y: _is(y, 1))),
    Law("x ** 2 = x * x", "pow pow_tensor", _square),
    Law("max(x, x) = x", "maximum minimum logical_and logical_or bitwise_and bitwise_or", _idempotent),
    Law("where(true, x, y) = x", "where", _decided),
    Law("where(c, x, x) = x", "where", _same_branches),
    Law("where(not c, x, y) = where(c, y, x)", "where", _negated_condition),
    Law("where(a <= x <= b, x, min(max(x, a), b)) = min(max(x, a), b)", "where", _within_bounds),
    Law("copy(x) = x: values have no memory", "copy", _own_type),
    Law("lay(x) = x, by_rows(x) = x: nor have they an order in it", "lay by_rows gradient_in_order", _own_type),
    Law("cast(x, own type) = x", "cast", _own_type),
    Law("cast(cast(x, a type that holds x's), t) = cast(x, t)", "cast", _cast_of_cast),
    Law("cast(cast(x, a wider floating type), own type) = x", "cast", _cast_and_back),
    Law("reshape(x, own shape) = x", "reshape", _own_type),
    Law("reshape(reshape(x)) = reshape(x)", "reshape", _reshape_of_reshape),
    Law("transpose(transpose(x)) = transpose(x)", "transpose", _transpose_of_transpose),
    Law("transpose of axes of extent 1 = reshape", "transpose", _transpose_as_reshape),
    Law("broadcast(broadcast(x)) = broadcast(x)", "broadcast", _broadcast_of_broadcast),
    Law("broadcast to as many elements = reshape", "broadcast", _broadcast_as_reshape),
    Law("f(broadcast(x), y) = f(x, y)", "*", _without_broadcast),
    Law("f(broadcast(x)) = broadcast(f(x))", "*", _before_broadcast),
    Law("slice of all = x", "slice", _whole_slice),
    Law("the slice that update_slice wrote = what it wrote", "slice", _slice_of_update),
    Law("update_slice of all of x with y = y", "update_slice", _whole_update),
    Law("pad by nothing = x", "pad", lambda n: None if any(n.param("low")) else _own_type(n)),
    Law("concatenate(x) = x", "concatenate", _one_part),
    Law("sum of one element = x + 0: it starts at +0", "sum", _sum_of_one),
    Law("max, min, product of one element = x", "amax amin prod any all", _fold_of_one),
)


@cache
def _laws_of(op: Primitive) -> tuple[Law, ...]:
    names = {op.name, "*"} if isinstance(op.lower, Pointwise) else {op.name}
    return tuple(law for law in LAWS if names & set(law.ops.split()))
