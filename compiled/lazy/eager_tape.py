"""What eager mode would have on its tape for a compiled call, in whose place one node stands."""

from __future__ import annotations

from dataclasses import dataclass

from ...compiler.graph import Node
from ...ops.lazy import lazy


@dataclass(frozen=True)
class EagerTape:
    """What eager mode has on its tape for a call: the name of the node behind the first result, and what is saved.

    Of inputs (by label) the tensors themselves are saved, or views of them; or both.
    """

    title: str
    themselves: frozenset[str]
    views: frozenset[str]
    outputs: tuple[int, ...]  # results, in the order of those that have a history

    @lazy
    def inputs(self) -> frozenset[str]:
        """The labels of all inputs of which anything is saved."""
        return self.themselves | self.views


def shown_by(node: Node) -> Node:
    """The value that a node shows."""
    return shown_by(node.args[0]) if node.op.is_view else node
