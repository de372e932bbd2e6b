"""Groups -> kernels. Equal groups, as the layers of a deep model bring them, are lowered once and renamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...graph import Node
from ..dots import lower_dot
from ..lower import Memory, Stores, lower_loops
from ..records import Contraction, LoopKernel
from ..renaming import Renaming
from ..row_blocks.lowering import lower_row_blocks
from ..row_blocks.records import RowBlockKernel
from ..structure import Key, Structure
from ..values import Origins
from ..windows.convolutions import is_conv, lower_conv
from .group import Group, Grouping


@dataclass(frozen=True)
class Pattern:
    """A kernel for all groups of one structure: buffers and origins have numbers in the place of names."""

    kernel: LoopKernel | Contraction
    reads: frozenset[str]  # the buffers that it asked for


@dataclass
class Lowering:
    """Lowers the groups of a grouping."""

    grouping: Grouping
    _patterns: dict[Key, Pattern] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._structure = Structure(self.is_memory)

    def is_memory(self, node: Node) -> bool:
        """Inputs, and what some kernel stores."""
        return node.is_input or node in self.grouping.reads

    def key(self, group: Group, cone: Mapping[Node, int]) -> Key:
        """Equal for groups that the same kernel computes, but for names."""
        kind = group.space, -1 if group.dot is None else cone[group.dot]
        return (*kind, *self._structure.key(group.nodes, cone))

    def cone(self, group: Group) -> dict[Node, int]:
        """What a group computes and reads, numbered."""
        return self._structure.cone(group.nodes)

    def kernel(
        self, name: str, group: Group, stores: Stores, memory: Mapping[Node, str]
    ) -> tuple[LoopKernel | Contraction | RowBlockKernel, frozenset[str]]:
        """The kernel of a group, and the buffers that it reads. Raises Unfusable if there is none."""
        if group.blocks:
            return self._row_blocks(name, group, stores, memory)
        cone = self.cone(group)
        inside = frozenset(group.nodes)
        held = {node: memory[node] for node in cone if node not in inside and node in memory}
        numbers: dict[str, str] = {}
        for buffer in (*held.values(), *(buffer for names in stores.values() for buffer in names)):
            numbers.setdefault(buffer, str(len(numbers)))
        numbered = {node: [numbers[buffer] for buffer in names] for node, names in stores.items()}
        written = tuple((cone[node], *names) for node, names in numbered.items())
        read = tuple((cone[node], numbers[buffer]) for node, buffer in held.items())
        key = (written, read, *self.key(group, cone))
        if key not in self._patterns:
            places = {node: numbers[buffer] for node, buffer in held.items()}
            self._patterns[key] = self._pattern(group, numbered, places, cone)
        pattern = self._patterns[key]
        buffers = {number: buffer for buffer, number in numbers.items()}
        origins = {str(number): str(node.origin) for node, number in cone.items()}
        renaming = Renaming(buffers, origins)
        reads = frozenset(buffers[number] for number in pattern.reads)
        if isinstance(pattern.kernel, LoopKernel):
            return renaming.loops(pattern.kernel, name), reads
        return renaming.product(pattern.kernel, name), reads

    def scratch_bytes(self, group: Group) -> int:
        """Bytes of scratch memory that products in blocks of rows want."""
        stores = dict.fromkeys(group.nodes, ("store",))
        numbers = {node: str(number) for number, node in enumerate(self.cone(group))}
        kernel = lower_row_blocks("", group, self.grouping.reads, stores, self._outside(group, numbers), str)
        return kernel.scratch_bytes

    def _outside(self, group: Group, memory: Mapping[Node, str]) -> Memory:
        inside = frozenset(group.nodes)
        return lambda node: None if node in inside or not self.is_memory(node) else memory[node]

    def _row_blocks(
        self, name: str, group: Group, stores: Stores, memory: Mapping[Node, str]
    ) -> tuple[RowBlockKernel, frozenset[str]]:
        place = self._outside(group, memory)
        kernel = lower_row_blocks(name, group, self.grouping.reads, stores, place, lambda node: str(node.origin))
        return kernel, frozenset(buffer for _, buffer in kernel.operands)

    def _pattern(
        self, group: Group, stores: Mapping[Node, Sequence[str]], places: Mapping[Node, str], cone: Mapping[Node, int]
    ) -> Pattern:
        asked: set[str] = set()

        def place(node: Node) -> str | None:
            name = places.get(node)
            asked.update([] if name is None else [name])
            return name

        kernel = lowered("", group, self.grouping, stores, place, lambda node: str(cone[node]))
        assert not isinstance(kernel, RowBlockKernel)  # these have names of their own
        return Pattern(kernel, frozenset(asked))


def lowered(
    name: str, group: Group, grouping: Grouping, stores: Stores, memory: Memory, origins: Origins
) -> LoopKernel | Contraction | RowBlockKernel:
    """The loops, the contraction or the blocks of rows that compute a group. Raises Unfusable."""
    if group.blocks:
        return lower_row_blocks(name, group, grouping.reads, stores, memory, origins)
    if group.dot is not None and is_conv(group.dot):
        return lower_conv(name, group.dot, group.nodes, stores, memory, origins)
    if group.dot is not None:
        return lower_dot(name, group.dot, group.nodes, stores, memory, origins)
    return lower_loops(name, grouping.unit(group), stores, memory, origins)
