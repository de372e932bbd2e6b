"""Which products share a kernel with the work on rows between them: scores, their softmax, and what that multiplies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from ....ops.types import float32, float64
from ...graph import Node
from ...sizes.standins import is_size
from ..dots import is_dot
from ..folds import is_fold
from ..space import Space, space_of, squeezed
from .parts import TileUse, tile_use
from .placing import MOVING, moved, placed_in

Reads = Mapping[Node, frozenset[Node]]
Shape = tuple[int, ...]
#: Shorter rows and columns than these are worked on side by side by loops of their own.
FEWEST_ROWS = 8
FEWEST_COLUMNS = 17
#: Longer rows of tiles than this would not stay in the cache.
MOST_COLUMNS = 16384
#: A product of vectors that are longer than this is better off with tiles of its own.
MOST_DEPTH = 512


@dataclass(eq=False)
class Region:
    """Candidates of one kernel: products and row work of scores of one shape."""

    shape: Shape
    nodes: set[Node] = field(default_factory=set)


@dataclass
class Regions:
    """Finds the regions of a graph. `reads` are its candidates in graph order, with what each reads; `results` have to
    be stored; `is_convex` tells whether nodes can be computed together."""

    reads: Reads
    results: frozenset[Node]
    is_convex: Callable[[Collection[Node]], bool]
    found: list[Region] = field(default_factory=list)
    owner: dict[Node, Region] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.readers = _readers(self.reads)

    def all(self) -> list[tuple[Node, ...]]:
        """The nodes of each region, in order."""
        uses = [use for use in map(use_of, self.reads) if use is not None and is_long(use.tile)]
        for use in uses:
            self._begin(use)
        for use in uses:
            self._join(use)
        kept = [region for region in self.found if self._is_closed(region)]
        for region in kept:
            region.nodes |= self._moved_results(region)
        order = {node: place for place, node in enumerate(self.reads)}
        return [tuple(sorted(region.nodes, key=order.__getitem__)) for region in kept]

    def _begin(self, use: TileUse) -> None:
        """A new region where rows of products are folded on the way to the tile of `use`."""
        work = self._work(use.tile)
        scores = {node for node in work if is_dot(node)}
        made = {node for node in work if self._reaches(node, scores, work)}
        read = set[Node]().union(*(self.reads[node] for node in made))
        has_exponents = any(n.op.name == "exp" and n.type.shape == use.tile.type.shape for n in made | read)
        if has_exponents and any(map(is_fold, made)) and use.tile in made and self.is_convex({*made, use.node}):
            self.found.append(Region(use.tile.type.shape))
            self._add(self.found[-1], {*made, use.node})

    def _join(self, use: TileUse) -> None:
        """The product in the latest region of its shape that has work in common with its tile."""
        if use.node in self.owner:
            return
        work = {use.node, *self._work(use.tile)}
        near = [region for region in self.found if region.shape == use.tile.type.shape and self._is_near(work, region)]
        for region in [self.owner[use.tile]] if use.tile in self.owner else reversed(near):
            if self.is_convex(region.nodes | work):
                self._add(region, work)
                return

    def _add(self, region: Region, nodes: set[Node]) -> None:
        region.nodes |= nodes
        self.owner.update((node, region) for node in nodes)

    def _is_near(self, work: set[Node], region: Region) -> bool:
        """True where both read the same values of elements."""
        size = region.shape
        read = {n for node in work for n in self.reads[node] if n.type.shape == size}
        return bool(read & region.nodes) or any(read & self.reads[node] for node in region.nodes)

    # ------------------------------------------------------------------------------------------------- work on rows

    def _work(self, tile: Node) -> set[Node]:
        """What `tile` is made of that no region has: work on elements and rows, down to the products of its shape."""
        whole = squeezed(tile.type.shape)
        space = Space(whole, (len(whole) - 1,))
        seen: set[Node] = set()
        pending = [tile]
        while pending:
            node = pending.pop()
            if node not in seen and node not in self.owner and node in self.reads and _is_work(node, tile, space):
                seen.add(node)
                pending.extend(() if is_dot(node) else self.reads[node])
        return seen

    def _reaches(self, node: Node, scores: set[Node], inside: set[Node]) -> bool:
        seen: set[Node] = set()
        pending = [node]
        while pending:
            current = pending.pop()
            if current in scores:
                return True
            if current not in seen and current in inside:
                seen.add(current)
                pending.extend(self.reads[current])
        return False

    # ------------------------------------------------------------------------------------------------------ results

    def _is_closed(self, region: Region) -> bool:
        """True where the scores are read in the region only: they are nowhere in memory."""
        scores = [n for n in region.nodes if is_dot(n) and tile_use(n, region.shape, region.nodes) is None]
        return not any(n in self.results or set(self.readers[n]) - region.nodes for n in scores)

    def _moved_results(self, region: Region) -> set[Node]:
        """What only moves results of the region, which are stored in its place."""
        uses = {n for n in region.nodes if is_dot(n) and tile_use(n, region.shape, region.nodes) is not None}
        found: set[Node] = set()
        for use in uses:
            for reader in self.readers[use]:
                parts = moved(reader) if reader.op in MOVING else set()
                if parts and parts <= uses - self.results and all(self._lies_in(part, reader) for part in parts):
                    found.add(reader)
        return found

    def _lies_in(self, part: Node, whole: Node) -> bool:
        return len(self.readers[part]) == 1 and placed_in(whole, part) is not None


def use_of(node: Node) -> TileUse | None:
    """The product `node` as one of a tile that row work has made."""
    if not is_dot(node) or node.type.dtype not in (float32, float64):
        return None
    left, right = (arg.type.shape for arg in node.args)
    shapes = (left, _swapped(left), right, _swapped(right))
    return next((use for use in (tile_use(node, shape) for shape in shapes) if use is not None), None)


def _swapped(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def is_long(tile: Node) -> bool:
    shape = tile.type.shape
    if len(shape) < 3 or any(is_size(extent) for extent in shape) or not tile.type.size:
        return False
    return shape[-2] >= FEWEST_ROWS and FEWEST_COLUMNS <= shape[-1] <= MOST_COLUMNS


def _is_work(node: Node, tile: Node, space: Space) -> bool:
    if is_dot(node):
        return node.type.shape == tile.type.shape and node.args[0].type.shape[-1] <= MOST_DEPTH
    if is_fold(node):
        return node.args[0].type.shape == tile.type.shape and space_of(node) == space
    if node.op in MOVING:
        return False
    if squeezed(node.type.shape) == space.row_shape:
        return True
    return node.type.shape == tile.type.shape and node.type.dtype.is_floating_point


def _readers(reads: Reads) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {node: [] for node in reads}
    for node, own in reads.items():
        for read in own:
            if read in found:
                found[read].append(node)
    return found
