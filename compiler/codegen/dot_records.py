"""What a matrix product is to the code generator, and the records that its templates print."""

from __future__ import annotations

from dataclasses import dataclass

from ..schedule.records import Split
from ..sizes.standins import is_size
from .loops import Loop
from .sharing import SharedRecord


@dataclass(frozen=True)
class DotOperand:
    """One factor as it lies in memory; strides count elements. A is (m, k), B is (k, n)."""

    name: str
    batch_strides: tuple[int, ...]
    row_stride: int
    column_stride: int


@dataclass(frozen=True)
class DotKernel:
    """One matrix product and what happens to each element of it.

    ``epilogue`` is C for one element at ``z0, z1, ..., i, j`` that finds the sum in ``acc`` and stores the results.
    Names that start with ``dot_`` and the names ``acc``, ``p`` and ``scratch`` belong to the kernel.
    """

    name: str
    comment: tuple[str, ...]
    ctype: str
    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    a: DotOperand
    b: DotOperand
    parameters: tuple[str, ...]
    epilogue: tuple[str, ...]
    setup: tuple[str, ...] = ()  # statements before all elements
    sizes: tuple[str, ...] = ()  # what parts of the text depend on at run time, as names of C variables
    split: Split | None = None  # along a loop of the batch, rows or columns

    @property
    def axis(self) -> str:
        """What threads share."""
        return "" if self.split is None else self.split.axis


@dataclass(frozen=True)
class Range:
    """Where a loop begins and ends, in C."""

    first: str
    last: str

    @property
    def count(self) -> str:
        return self.last if self.first == "0" else f"{self.last} - {self.first}"


@dataclass(frozen=True)
class Parts:
    """A tiled product as parts that threads share, which run one after the other: packing of rows and panels, the
    product along `axis` with `extent` rows or columns, and, behind the passes of a blocked one, the epilogue.

    What is packed of the rows begins at `scales`.
    """

    axis: str
    extent: int
    has_scratch: bool
    scales: str
    depth_argument: str
    pack_rows: SharedRecord | None
    panels: SharedRecord | None
    main: SharedRecord
    after: SharedRecord


@dataclass(frozen=True)
class Tiling:
    """What was decided about a tiled product. Scratch holds the panel, the partial sums and the packed rows in turn."""

    a: DotOperand
    b: DotOperand
    row: str
    column: str
    rows: int
    columns: int
    block: int
    blocked: bool
    by_rows: bool
    panels_first: bool
    stretch: int
    packing: str
    rows_packed: bool
    sums_rows: int
    panel_bytes: int
    sums_bytes: int
    packed_bytes: int

    @property
    def last_rows(self) -> bool:
        """True where the last tile has fewer rows, in a function of its own."""
        return self.blocked and not is_size(self.rows)

    @property
    def scratch_bytes(self) -> int:
        return self.panel_bytes + self.sums_bytes + self.packed_bytes


@dataclass(frozen=True)
class Stream:
    """An element of memory that is asked for in pieces, line by line, `ahead` elements before its use."""

    element: str
    piece: int
    line: int
    ahead: int


@dataclass(frozen=True)
class PlainDot:
    """What ``dot_plain.c.j2`` prints."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[Loop, ...]
    row: Loop
    column: Loop
    m: int
    n: int
    k: int
    ctype: str
    sum_type: str
    a_element: str
    b_element: str
    stream: Stream | None
    setup: tuple[str, ...]
    epilogue: tuple[str, ...]
    shared: SharedRecord | None


@dataclass(frozen=True)
class RowDot:
    """What ``dot_row.c.j2`` prints; ``row`` and ``column`` as in ``TiledDot``."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[Loop, ...]
    ctype: str
    row: str
    column: str
    columns: int
    tile_columns: int
    k: int
    scale_element: str
    vector_row: str
    setup: tuple[str, ...]
    epilogue: tuple[str, ...]
    column_range: Range
    shared: SharedRecord | None


@dataclass(frozen=True)
class BroadcastOperand:
    """The operand whose elements are broadcast: where it lies, and where the tile function finds it.

    The tile that starts at row r begins at ``tile_base + r * tile_advance``. ``packed``: its rows are first
    interleaved, so that one broadcast after the other comes from consecutive memory.
    """

    base: str
    row_stride: int
    depth_stride: int
    packed: bool
    packed_offset: int
    tile_base: str
    tile_advance: str
    tile_row_stride: str
    tile_depth_stride: str


@dataclass(frozen=True)
class VectorOperand:
    """The operand that is read as vectors. ``packing`` into a panel: "none", "rows", "transpose", "elements"."""

    base: str
    depth_stride: int
    column_stride: int
    packing: str
    panel_stride: str
    prefetch: bool


@dataclass(frozen=True)
class TiledDot:
    """What ``dot.c.j2`` and ``dot_blocked.c.j2`` print.

    ``row`` and ``column`` are the epilogue's names of the tile's two directions. ``depth`` is the length of one pass
    over the inner dimension: a number, or the name of a parameter. ``by_rows``: the tiles go row by row through
    `stretch` columns, whose panels of B are packed before; with ``panels_first`` these are all columns. `shape_rows`
    and `shape_columns` decide on the tile's shape: they are `rows` and `columns` unless these are run-time sizes.
    `last_rows`: there is a function for the last tile's rows; otherwise all tiles of the partial sums are whole,
    `sums_rows` rows with the padding. Helper functions have `size_parameters` before their own parameters and are
    called with `size_arguments`. Threads share the whole in pieces of the batch (`shared`), or `parts` of it.
    """

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[Loop, ...]
    ctype: str
    vector: str
    lanes: str
    transpose: str
    row: str
    column: str
    rows: int
    columns: int
    k: int
    broadcast: BroadcastOperand
    vectors: VectorOperand
    blocked: bool
    by_rows: bool
    panels_first: bool
    stretch: int
    block: int
    depth: str
    depth_parameter: str
    tile_assignment: str
    tile_functions: tuple[tuple[str, str], ...]
    shape_rows: int
    shape_columns: int
    last_rows: bool
    sums_rows: int
    size_parameters: str
    size_arguments: str
    sums_offset: int
    sums_bytes: int
    setup: tuple[str, ...]
    epilogue: tuple[str, ...]
    row_range: Range
    column_range: Range
    panel_range: Range
    stretch_range: Range
    panel_column: str
    pack_range: Range
    shared: SharedRecord | None
    parts: Parts | None
