"""What groups of nodes have in common: equal keys for those that differ in the names of their operands only.

The layers of a deep model are equal to each other. What was found out about the kernel of one holds for all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ..graph import Node

Key = tuple[Hashable, ...]


@dataclass
class Structure:
    """The keys of nodes with what is computed on the way from `is_memory` nodes to them."""

    is_memory: Callable[[Node], bool]
    _kinds: dict[Hashable, int] = field(default_factory=dict)
    _kind_of: dict[Node, int] = field(default_factory=dict)

    def cone(self, nodes: Sequence[Node]) -> dict[Node, int]:
        """`nodes` and everything that they are computed from down to what is in memory, numbered, operands first."""
        inside = frozenset(nodes)
        numbers: dict[Node, int] = {}
        for root in nodes:
            pending = [root]
            while pending:
                node = pending[-1]
                known = node in numbers
                waiting = [] if known else [a for a in self._operands(node, inside) if a not in numbers]
                if waiting:
                    pending.extend(reversed(waiting))
                else:
                    numbers.setdefault(pending.pop(), len(numbers))
        return numbers

    def key(self, nodes: Sequence[Node], cone: Mapping[Node, int]) -> Key:
        """Equal for nodes that are computed in the same way from operands of the same types."""
        inside = frozenset(nodes)
        entries = ((self._kind(n, inside), *(cone[a] for a in self._operands(n, inside))) for n in cone)
        return (tuple(cone[node] for node in nodes), *entries)

    def _operands(self, node: Node, inside: frozenset[Node]) -> tuple[Node, ...]:
        """The operands of what is computed in the kernel; none of what it reads."""
        return node.args if node in inside or not self.is_memory(node) else ()

    def _kind(self, node: Node, inside: frozenset[Node]) -> int:
        """A number for each op with its parameters and type; for each type of memory."""
        if node not in inside and self.is_memory(node):
            return ~self._number(node.type)
        if node not in self._kind_of:
            # Parameters by their text, which tells 0.0 from -0.0 and 1 from True.
            self._kind_of[node] = self._number((node.op, repr(node.params), node.type))
        return self._kind_of[node]

    def _number(self, of: Hashable) -> int:
        return self._kinds.setdefault(of, len(self._kinds))
