"""Matrix products: their operands as strided views of memory, and what happens to each element of the result."""

from __future__ import annotations

from ...ops.core import Movement
from ...ops.movement import reshape_primitive
from ..graph import Node
from . import maps
from .index import Index, Variable, flattened, of_variable
from .live import read_statements
from .lower import Memory, Stores
from .maps import Position
from .records import DotKernel, Operand, Statement, Store, Value, View
from .values import Origins, Scope, Values


def is_dot(node: Node) -> bool:
    return node.op.name == "dot"


def base_of_view(node: Node) -> Node:
    """The node that has to be in memory so that `node` can be read with strides: as far down as movement allows."""
    axes = _axes(node)
    position: Position = tuple(of_variable(v) for v in axes)
    while isinstance(node.op.lower, Movement):
        source = maps.sources(node, position)
        if len(source) > 1 or source[0].ranges:
            break
        if not all(index.is_affine for index in source[0].position):
            return _behind_reshapes(node)
        node, position = node.args[0], source[0].position
    return node


def _behind_reshapes(node: Node) -> Node:
    """What has the same elements in the same order, so that its memory serves as that of `node`."""
    while node.op is reshape_primitive:
        node = node.args[0]
    return node


def lower_dot(
    name: str, dot: Node, nodes: tuple[Node, ...], stores: Stores, memory: Memory, origins: Origins
) -> DotKernel:
    """The product `dot` with the other `nodes` computed from it element by element."""
    batch = dot.type.shape[:-2]
    axes = [Variable(f"z{axis}", extent) for axis, extent in enumerate(batch)]
    m, n = dot.type.shape[-2:]
    position = tuple(of_variable(v) for v in (*axes, Variable("i", m), Variable("j", n)))
    return DotKernel(
        name=name,
        dtype=dot.type.dtype,
        batch=batch,
        m=m,
        n=n,
        k=dot.args[0].type.shape[-1],
        a=view(dot.args[0], memory),
        b=view(dot.args[1], memory),
        epilogue=product_epilogue(dot, nodes, position, stores, memory, origins),
        op=dot.op.name,
        origin=origins(dot),
    )


def view(node: Node, memory: Memory) -> View:
    """`node` as strides in the buffer below it."""
    axes = _axes(node)
    position: Position = tuple(of_variable(v) for v in axes)
    while memory(node) is None and memory(_behind_reshapes(node)) is None:
        position, node = maps.sources(node, position)[0].position, node.args[0]
    index = flattened(position, node.type.shape)
    buffer = memory(node) or memory(_behind_reshapes(node))
    assert buffer is not None
    strides = tuple(index.coefficient(axis) for axis in axes)
    return View(buffer, index.constant, strides[:-2], strides[-2], strides[-1])


def _axes(node: Node) -> tuple[Variable, ...]:
    return tuple(Variable(f"i{axis}", extent) for axis, extent in enumerate(node.type.shape))


def product_epilogue(
    dot: Node, nodes: tuple[Node, ...], position: Position, stores: Stores, memory: Memory, origins: Origins
) -> tuple[Statement, ...]:
    """What happens to the element of `dot` at `position`, whose sum is `acc`."""
    depends = frozenset[Variable]().union(*(index.variables() for index in position))
    scope = Scope()
    places = {node: _at(position, node) for node in nodes}
    bound: dict[Node, Operand] = {dot: Value("acc", depends)}
    values = Values(memory, places, frozenset(), bound, row=scope, body=scope, origins=origins)
    for node in nodes:  # operands first: on demand alone, long chains would recurse
        values.value(node, places[node])
    stored: list[Statement] = []
    for node, buffers in stores.items():
        value = values.named(node, values.value(node, places[node]))
        offset = flattened(places[node], node.type.shape)
        stored.extend(Store(buffer, offset, value) for buffer in buffers)
    return read_statements([*scope.statements, *stored], set())


def _at(position: tuple[Index, ...], node: Node) -> Position:
    """The dot's position on the axes of a node of the same extents."""
    rest = iter([index for index in position if index.terms])
    return tuple(next(rest) if extent != 1 else Index() for extent in node.type.shape)
