"""What a matrix product is to the code generator, and the records that its templates print."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True)
class BatchLoop:
    """One loop around the product."""

    index: str
    extent: int


@dataclass(frozen=True)
class PlainDot:
    """What ``dot_plain.c.j2`` prints."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[BatchLoop, ...]
    m: int
    n: int
    k: int
    ctype: str
    sum_type: str
    a_element: str
    b_element: str
    setup: tuple[str, ...]
    epilogue: tuple[str, ...]


@dataclass(frozen=True)
class RowDot:
    """What ``dot_row.c.j2`` prints; ``row`` and ``column`` as in ``TiledDot``."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[BatchLoop, ...]
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
    over the inner dimension: a number, or the name of a parameter. ``panels_first``: all of B is packed before the
    first tile, and the tiles go row by row. `shape_rows` and `shape_columns` decide on the tile's shape: they are
    `rows` and `columns` unless these are run-time sizes. `last_rows`: there is a function for the last tile's rows;
    otherwise all tiles of the partial sums are whole, `sums_rows` rows with the padding. Helper functions have
    `size_parameters` before their own parameters and are called with `size_arguments`.
    """

    name: str
    comment: tuple[str, ...]
    parameters: str
    batch: tuple[BatchLoop, ...]
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
    panels_first: bool
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
