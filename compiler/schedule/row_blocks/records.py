"""A kernel that works on blocks of rows: products that make them, loops over each row, products that use them up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ....ops.types import DType
from ..memory import aligned
from ..records import LoopKernel, SpecialKernel, Stage, View

#: Bytes of the widest vector.
VECTOR_BYTES = 64
#: `TG_TILE_ROWS` never gives more; what tiles are filled up to.
MOST_TILE_ROWS = 14
#: Lines of memory that are a multiple of this apart fall into few sets of the L1 cache.
FEW_SETS = 1024
#: What a kernel's outputs call its scratch memory.
SCRATCH = "spare"


@dataclass(frozen=True)
class Width:
    """Columns of a matrix that is filled up to whole tiles: `vectors` in each, `padded` columns in all, `pitch`
    elements from one row to the next."""

    columns: int
    vectors: int
    padded: int
    pitch: int


def width(columns: int, item: int) -> Width:
    """How `columns` numbers of `item` bytes lie in tiles."""
    lanes = VECTOR_BYTES // item
    vectors = 1 if columns <= lanes else 3 if 2 * lanes < columns <= 3 * lanes else 2
    padded = -(-columns // (vectors * lanes)) * vectors * lanes
    return Width(columns, vectors, padded, padded + lanes * (padded * item % FEW_SETS == 0))


@dataclass(frozen=True)
class Panel:
    """An operand, copied for each matrix of the batch: element (r, c) of the view at row r, filled up with zeros."""

    view: View
    rows: int
    width: Width


@dataclass(frozen=True)
class Scores:
    """Product number `tile`, which makes the rows of a block: rows of panel `rows` times all of panel `columns`."""

    tile: int
    rows: int
    columns: int
    depth: int
    origin: str


@dataclass(frozen=True)
class Use:
    """A product that reads the rows of a block. Rows: ``tile @ panel``, a row of the result for each row. Columns: the
    sum over all blocks of ``tile.T @ panel``, a row of the result for each column."""

    tile: int
    panel: int
    of_columns: bool
    target: View
    origin: str


@dataclass(frozen=True)
class Limits:
    """How far a mask lets the products of each row look: `stages` store, for the current row, where the last element
    that is not excluded ends. `of_batch`: masks differ from one matrix to the next. `checked` are panels whose numbers
    have to be small. `everywhere`: what is excluded is stored nowhere, so that rows end at a block's last limit."""

    stages: tuple[Stage, ...]
    of_batch: bool
    checked: tuple[int, ...]
    everywhere: bool


@dataclass(frozen=True)
class Blocks:
    """How the rows of one matrix are gone through: `block` at a time, with tiles of `width`."""

    dtype: DType
    rows: int
    block: int
    width: Width
    panels: tuple[Panel, ...]
    scores: tuple[Scores, ...]
    uses: tuple[Use, ...]
    tiles: int
    limits: Limits | None

    @property
    def limit_count(self) -> int:
        """Limits of all rows, and of as many as a last block can lack."""
        return 0 if self.limits is None else self.rows + self.block + MOST_TILE_ROWS

    @property
    def parts(self) -> tuple[int, ...]:
        """Bytes of each part of the scratch memory: panels, tiles, sums of uses; limits; those that exclude nothing."""
        item, more = self.dtype.itemsize, MOST_TILE_ROWS
        panels = [(panel.rows + more) * panel.width.pitch for panel in self.panels]
        tiles = [(self.block + more) * self.width.pitch] * self.tiles
        sums = [(self.rows_of(use) + more) * self.panels[use.panel].width.pitch for use in self.uses]
        numbers = [count * item for count in (*panels, *tiles, *sums)]
        return tuple(aligned(nbytes) for nbytes in (*numbers, 4 * self.limit_count, 4 * self.limit_count))

    def rows_of(self, use: Use) -> int:
        """Rows of a result that are added up before they are stored."""
        return self.width.columns if use.of_columns else self.block


@dataclass(frozen=True)
class RowBlockKernel(SpecialKernel):
    """For each matrix of the batch (the outer loops of `around` but for the last), a block of rows at a time: scores
    make tiles, the stages `before` and of `around` go through each row of them and make other tiles, uses multiply
    these.

    In the stages, a load or store of buffer ``tile0``, ``tile1``, ... is the current row's element of a tile. The
    scratch memory is the buffer ``spare`` of the outputs.
    """

    blocks: Blocks = field(kw_only=True)
    around: LoopKernel = field(kw_only=True)
    before: tuple[Stage, ...] = field(kw_only=True)

    @property
    def scratch_bytes(self) -> int:
        return sum(self.blocks.parts)


def with_scratch(kernel: RowBlockKernel, buffer: str) -> RowBlockKernel:
    """The kernel with its scratch memory."""
    return replace(kernel, outputs=(*kernel.outputs, (SCRATCH, buffer)))


def tile_name(number: int) -> str:
    """What the loops of a kernel call the current row of a tile."""
    return f"tile{number}"


#: What the loops of a kernel call the limits of its rows.
LIMITS = "row_limits"


def is_tile(buffer: str) -> bool:
    """True for the row of a tile, which is no buffer."""
    return buffer.startswith("tile") and buffer[4:].isdigit()


def is_own(buffer: str) -> bool:
    """True for what is no buffer."""
    return buffer == LIMITS or is_tile(buffer)
