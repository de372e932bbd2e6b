"""Backward graphs for calls of which some results were not used: no cotangent arrives for these."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .graph import Builder, Graph, Node, topological


def without(backward: Graph, absent: Collection[str], seeds: Collection[str]) -> Graph:
    """`backward` where no cotangent arrives in the inputs `absent`, of all its cotangents `seeds`.

    A gradient that only absent cotangents lead to has no result, as PyTorch's is None. That is not what a cotangent of
    zeros gives: zero times infinity is nan. Gradients are linear in cotangents: where present ones meet absent ones,
    the absent are zeros.
    """
    linear: set[Node] = set()  # what depends on a cotangent, present or not
    gone: set[Node] = set()
    builder = Builder()

    def rule(node: Node) -> Node:
        """Called with operands that are replaced already; what is gone stays as it is, for no result reads it."""
        ways = [a for a in node.args if a in linear]
        if node.label in seeds or ways:
            linear.add(node)
        if node.label in absent or (ways and gone.issuperset(ways)):
            gone.add(node)
        elif not gone.isdisjoint(ways):
            zeros = tuple(_zeros(builder, a) if a in gone else a for a in node.args)
            node = replace(node, args=zeros)
            linear.add(node)
        return node

    mapped = backward.mapped(rule)
    results = tuple(r for r in mapped.results if r.node not in gone)
    read = set(topological(r.node for r in results))
    return Graph(backward.name, tuple(n for n in backward.inputs if n in read), results)


def _zeros(builder: Builder, like: Node) -> Node:
    full = builder.constant(0, like.type.dtype)
    return Node(full.op, (), (("shape", like.type.shape), *full.params[1:]), like.type, like.origin)
