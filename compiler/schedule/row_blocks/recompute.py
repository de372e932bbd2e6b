"""What a backward pass reads of scores: computed again from their rows' folds, so that less of them lies in memory.

A softmax over the rows of a product is read again by its derivative. While scores are small their exponentials stay in
memory, and what is cheap to make of them is made again; where they are large, the product is repeated as well, and what
stays has one number for each row. The same ops in the same order give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_

from ....ops.core import Movement, Pointwise
from ....ops.movement import transpose_primitive
from ...graph import Graph, Node, users
from ..dots import is_dot
from ..folds import is_fold
from ..live import is_function
from ..space import squeezed
from .regions import MOST_DEPTH, is_long, use_of

#: Scores of one softmax that take more bytes than this are computed again.
LARGE_SCORES = 4 * 1024 * 1024


def with_recomputed_scores(graph: Graph) -> Graph:
    """`graph` with what others read of the scores of a softmax, between two products, as nodes of their own."""
    readers = users(graph)
    results = {result.node for result in graph.results}
    known: set[Node] = set()
    replaced: dict[Node, Node] = {}
    follows = _follows(readers)
    for use in filter(None, map(use_of, readers)):
        made = _made(use.tile, known) if is_long(use.tile) else set()
        if any(n.op.name == "exp" for n in made) and any(map(is_fold, made)):
            # What does not wait for the product shares its kernel.
            waiting = {n for n in readers if follows(n, use.node)}
            made = _with_derived(made, use.tile.type.size, readers, waiting)
            known |= made
            kept = results | (set() if use.tile.type.nbytes > LARGE_SCORES else set(filter(_is_kept, made)))
            again = _Again(made, kept, use.tile.type.size)
            for reader in {u for n in made for u in readers[n] if u in waiting}:
                current = replaced.get(reader, reader)
                replaced[reader] = replace(current, args=tuple(again.of(arg) for arg in current.args))
    return graph.rewritten(replaced) if replaced else graph


def _follows(nodes: Iterable[Node]) -> Callable[[Node, Node], bool]:
    """Whether a node is computed from a product of several matrices; `nodes` are all, in graph order."""
    own: dict[Node, int] = {}
    before: dict[Node, int] = {}
    for node in nodes:
        before[node] = reduce(or_, (before[arg] | own.get(arg, 0) for arg in node.args), 0)
        if is_dot(node) and node.type.ndim > 2:
            own[node] = 1 << len(own)
    return lambda node, product: bool(before[node] & own[product])


def _with_derived(
    made: set[Node], size: int, readers: Mapping[Node, list[Node]], waiting: Collection[Node]
) -> set[Node]:
    """`made` with what is made of it in turn, element by element, but for what is `waiting`."""
    found = set(made)
    pending = list(made)
    while pending:
        for reader in readers[pending.pop()]:
            by_element = isinstance(reader.op.lower, Pointwise) or reader.op is transpose_primitive
            if by_element and reader.type.size == size and reader not in found and reader not in waiting:
                found.add(reader)
                pending.append(reader)
    return found


def _is_kept(node: Node) -> bool:
    return is_dot(node) or is_function(node)


class _Again:
    """Copies of the nodes in `made` that have as many elements as the scores, but for those that are `kept`."""

    def __init__(self, made: set[Node], kept: set[Node], size: int) -> None:
        self.made = made
        self.kept = kept
        self.size = size
        self.copies: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """`node`, or its copy. Recursion is as deep as a softmax."""
        if node not in self.made or node in self.kept or node.type.size != self.size:
            return node
        if node not in self.copies:
            args = node.args if is_dot(node) else tuple(self.of(arg) for arg in node.args)
            self.copies[node] = replace(node, args=args)
        return self.copies[node]


def _made(tile: Node, known: set[Node]) -> set[Node]:
    """What leads from products of the shape of `tile` to it, by work on elements and on rows."""
    shape = tile.type.shape
    order: list[Node] = []
    seen: set[Node] = set()
    pending = [tile]
    while pending:
        node = pending.pop()
        if node in seen or node in known:
            continue
        seen.add(node)
        order.append(node)
        if not is_dot(node):
            pending.extend(arg for arg in node.args if _is_on_rows(arg, shape))
    reached = {n for n in seen if is_dot(n) and n.type.shape == shape and n.args[0].type.shape[-1] <= MOST_DEPTH}
    return _depending(seen, reached)


def _is_on_rows(node: Node, shape: tuple[int, ...]) -> bool:
    if is_dot(node):
        return node.type.shape == shape
    if not isinstance(node.op.lower, (Pointwise, Movement)) and not is_fold(node):
        return False
    return node.type.shape == shape or squeezed(node.type.shape) == squeezed(shape[:-1])


def _depending(nodes: Iterable[Node], roots: set[Node]) -> set[Node]:
    """Those of `nodes` that are roots or are computed from one."""
    nodes = set(nodes)
    readers: Mapping[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in node.args:
            if arg in nodes:
                readers[arg].append(node)
    found = set(roots)
    pending = list(roots)
    while pending:
        for reader in readers[pending.pop()]:
            if reader not in found:
                found.add(reader)
                pending.append(reader)
    return found
