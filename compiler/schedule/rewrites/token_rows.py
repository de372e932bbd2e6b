"""Work on the rows of a product, seen with several leading axes, done in the product's own two axes.

A layer on [batch, length, width] multiplies matrices of [batch * length, width] and shows the result with three axes.
Element-wise work and folds on that give the same numbers in the order of the rows; there they can be an epilogue of the
product, and loops over rows need one variable.
"""

from __future__ import annotations

from dataclasses import replace

from ....ops.core import Pointwise, Reduction
from ....ops.movement import broadcast_primitive, reshape_primitive
from ...graph import Graph, Node
from ..dots import is_dot
from ..space import squeezed

Shape = tuple[int, ...]


def in_rows(graph: Graph) -> Graph:
    """`graph` with work on reshaped products moved before the reshape; every value stays what it is."""
    rows = _Rows()
    moved = graph.mapped(rows.moved)
    # Results are memory: that of a reshape is that of what it shows.
    results = tuple(replace(result, node=rows.behind.get(result.node, result.node)) for result in moved.results)
    return moved if results == moved.results else replace(moved, results=results)


class _Rows:
    """`known` are products of two axes and what was made of them; `behind` tells which of them a reshape shows."""

    def __init__(self) -> None:
        self.known: set[Node] = set()
        self.behind: dict[Node, Node] = {}

    def moved(self, node: Node) -> Node:
        """`node`, whose operands are moved already, as a reshape of a value in rows, if it is one."""
        lower = node.op.lower
        if node.op is reshape_primitive:
            return self._reshape(node)
        if is_dot(node):
            if node.type.ndim == 2:
                self.known.add(node)
            return node
        made = None
        if isinstance(lower, Pointwise):
            made = self._pointwise(node)
        elif isinstance(lower, Reduction):
            made = self._fold(node)
        elif node.op is broadcast_primitive:
            made = self._broadcast(node)
        return node if made is None else self._shown(made, node)

    def _reshape(self, node: Node) -> Node:
        (arg,) = node.args
        if arg in self.behind:
            return self._shown(self.behind[arg], node)
        if arg in self.known and squeezed(arg.type.shape) != squeezed(node.type.shape):
            self.behind[node] = arg
        return node

    def _shown(self, value: Node, node: Node) -> Node:
        """`value`, which is in rows, in the shape of `node`."""
        if value.type.shape == node.type.shape:
            return value
        shown = _reshaped(value, node.type.shape, node)
        self.behind[shown] = value
        return shown

    def _made(self, node: Node, args: tuple[Node, ...], shape: Shape) -> Node:
        made = replace(node, args=args, type=replace(node.type, shape=shape))
        self.known.add(made)
        return made

    # ------------------------------------------------------------------------------------------- kinds of nodes

    def _pointwise(self, node: Node) -> Node | None:
        if node.type.ndim == 2 and any(arg in self.known and arg.type.shape == node.type.shape for arg in node.args):
            self.known.add(node)
            return None
        for arg in node.args:
            behind = self.behind.get(arg)
            if behind is not None and arg.type.shape == node.type.shape and _keeps_rows(node.type.shape, behind):
                args = [self._operand(each, node.type.shape, behind.type.shape) for each in node.args]
                found = tuple(each for each in args if each is not None)
                return self._made(node, found, behind.type.shape) if len(found) == len(args) else None
        return None

    def _operand(self, arg: Node, shape: Shape, rows: Shape) -> Node | None:
        """An operand of something of `shape` for the same in `rows`; None where it is broadcast along leading axes."""
        value = self.behind.get(arg, arg)
        own = arg.type.shape
        if own == ():
            return arg
        if own == shape:
            return value if value.type.shape == rows else _reshaped(value, rows)
        if len(rows) == 2 and own == (*shape[:-1], 1):
            return _reshaped(value, (rows[0], 1))
        if len(rows) == 2 and own[-1] in (1, shape[-1]) and all(extent == 1 for extent in own[:-1]):
            return _reshaped(value, own[-1:])
        return None

    def _fold(self, node: Node) -> Node | None:
        """A fold over the last axis, or over all before it."""
        (arg,) = node.args
        behind, last = self.behind.get(arg), arg.type.ndim - 1
        if behind is None or behind.type.ndim != 2 or not _keeps_rows(arg.type.shape, behind):
            return None
        axes = {(last,): (1,), tuple(range(last)): (0,)}.get(node.param("axes"))
        if axes is None:
            return None
        params = tuple((name, axes if name == "axes" else value) for name, value in node.params)
        return self._made(replace(node, params=params), (behind,), (behind.type.shape[1 - axes[0]],))

    def _broadcast(self, node: Node) -> Node | None:
        """One number a row, repeated along it."""
        (arg,) = node.args
        shape, behind = node.type.shape, self.behind.get(arg)
        if behind is None or behind.type.ndim != 1 or arg.type.shape != (*shape[:-1], 1):
            return None
        wide = (behind.type.shape[0], shape[-1])
        column = _reshaped(behind, (wide[0], 1))
        return self._made(replace(node, params=(("shape", wide),)), (column,), wide)


def _keeps_rows(shape: Shape, value: Node) -> bool:
    """True where the last axis of `shape` is a row of `value`, or all of `shape` a column of its numbers."""
    own = value.type.shape
    if len(own) == 1:
        return True
    return len(own) == 2 and bool(shape) and shape[-1] == own[-1]


def _reshaped(value: Node, shape: Shape, like: Node | None = None) -> Node:
    """`value` in that shape, from where `like` comes."""
    if value.type.shape == shape:
        return value
    origin = (like or value).origin
    return Node(reshape_primitive, (value,), (("shape", shape),), replace(value.type, shape=shape), origin)
