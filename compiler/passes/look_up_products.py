"""Products of rows that are looked up: the rows of the table are multiplied, and the products are looked up.

An embedding of a few symbols in long sequences gives the same row many times. ``table[index] @ w`` is
``(table @ w)[index]``, with as many products as the table has rows; the gradients of both factors need the sum of the
cotangents of each row only. The sums of the gradients are grouped by row then, as every product groups sums in its own
way. Rows that are not looked up take no part: whatever is in them, infinities and NaN too, reaches no gradient.
"""

from __future__ import annotations

from ...ops.comparison import where
from ...ops.core import interpreting
from ...ops.indexing import index_add, index_add_primitive, take, take_primitive
from ...ops.movement import reshape, reshape_primitive, transpose, transpose_primitive
from ...ops.products import dot, dot_primitive
from ...ops.sources import full, full_primitive, zeros
from ...ops.types import Type
from ..demands import asks_as_much
from ..graph import Builder, Graph, Node

#: A table is small if the index is so many times as long: looking products up and adding cotangents has its price, too.
FEWER = 4

Movements = list[Node]


def look_up_products(graph: Graph) -> Graph:
    """The graph with products of rows of small tables made of products of the tables."""
    found = graph.mapped(_rewritten)
    return found if asks_as_much(found, graph) else graph


def _rewritten(node: Node) -> Node:
    rule = {dot_primitive: _of_product, index_add_primitive: _of_sum}.get(node.op)
    with interpreting(Builder(node.origin)):
        made = rule(node) if rule is not None else None
    return node if made is None else made


def _of_product(node: Node) -> Node | None:
    left, right = node.args
    if node.type.ndim != 2:
        return None
    looked_up = _looked_up(left)
    if looked_up is not None:
        rows, movements = looked_up
        table, index = rows.args
        return _moved(take(dot(table, right), index), movements)
    for factor, other, turned in ((left, right, True), (right, left, False)):
        if turned and not _is_turned(factor):
            continue
        looked_up = _looked_up(factor.args[0] if turned else factor)
        cotangent = other if turned else _turned(other)
        if looked_up is None:
            continue
        rows, movements = looked_up
        sums = _sums(rows.args[0].type, rows.args[1], cotangent, movements)
        used = where(_counts(rows.args[0].type, rows.args[1]) > 0, rows.args[0], 0)
        return dot(_turned(used), sums) if turned else dot(_turned(sums), used)
    return None


def _of_sum(node: Node) -> Node | None:
    """The gradient of a table whose rows were multiplied: ``index_add(0, index, g @ w)``."""
    start, index, rows = node.args
    movements: Movements = []
    while rows.op in (reshape_primitive, transpose_primitive) and _keeps_rows(rows):
        movements.append(rows)
        rows = rows.args[0]
    empty = start.op is full_primitive and start.param("value") == 0
    if rows.op is not dot_primitive or rows.type.ndim != 2 or not empty or start.type.ndim != 2:
        return None
    if not _is_small(start.type, index):
        return None
    g, weight = rows.args
    # The inverse of what leads from the rows of the index to those of the product.
    sums = index_add(_zeros(start.type, g), index, _moved(g, movements))
    return where(_counts(start.type, index) > 0, dot(sums, weight), 0)


def _looked_up(node: Node) -> tuple[Node, Movements] | None:
    """Rows of a small table with the movements from them to `node`, the outermost first."""
    movements: Movements = []
    while node.op in (reshape_primitive, transpose_primitive) and _keeps_rows(node):
        movements.append(node)
        node = node.args[0]
    fits = node.op is take_primitive and node.args[0].type.ndim == 2 and node.type.dtype.is_floating_point
    return (node, movements) if fits and _is_small(node.args[0].type, node.args[1]) else None


def _is_small(table: Type, index: Node) -> bool:
    return 0 < FEWER * table.shape[0] <= index.type.size


def _keeps_rows(movement: Node) -> bool:
    """True where the last axis stays what it is."""
    inner, outer = movement.args[0].type.shape, movement.type.shape
    if not inner or not outer or inner[-1] != outer[-1]:
        return False
    return movement.op is reshape_primitive or movement.param("permutation")[-1] == len(inner) - 1


def _moved(rows: Node, movements: Movements) -> Node:
    """Other rows on the same way."""
    for movement in reversed(movements):
        if movement.op is reshape_primitive:
            rows = reshape(rows, (*movement.type.shape[:-1], rows.type.shape[-1]))
        else:
            rows = transpose(rows, movement.param("permutation"))
    return rows


def _moved_back(rows: Node, movements: Movements) -> Node:
    """Rows from the end of a way at its beginning."""
    for movement in movements:
        inner = movement.args[0].type.shape
        if movement.op is reshape_primitive:
            rows = reshape(rows, (*inner[:-1], rows.type.shape[-1]))
        else:
            permutation: tuple[int, ...] = movement.param("permutation")
            rows = transpose(rows, tuple(permutation.index(axis) for axis in range(len(permutation))))
    return rows


def _sums(table: Type, index: Node, cotangent: Node, movements: Movements) -> Node:
    """For each row of the table the sum of the cotangents ``[rows, n]`` of its copies."""
    return index_add(_zeros(table, cotangent), index, _moved_back(cotangent, movements))


def _zeros(table: Type, cotangent: Node) -> Node:
    made: Node = zeros(Type(table.dtype, (table.shape[0], cotangent.type.shape[1])))
    return made


def _counts(table: Type, index: Node) -> Node:
    """How often each row is looked up."""
    ones = full((*index.type.shape, 1), 1, table.dtype)
    counts: Node = index_add(zeros(Type(table.dtype, (table.shape[0], 1))), index, ones)
    return counts


def _is_turned(node: Node) -> bool:
    return node.op is transpose_primitive and node.param("permutation") == (1, 0)


def _turned(node: Node) -> Node:
    made: Node = transpose(node, (1, 0))
    return made
