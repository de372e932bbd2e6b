"""Matrix products: from the shape and strides of one ``dot`` to the record that its C template prints.

Four forms, chosen here and nowhere else:

- plain (``dot_plain.c.j2``): one sum per element. Integers, matrix-vector products along contiguous rows, tiny shapes.
- row (``dot_row.c.j2``): a vector times a matrix with contiguous rows, the sums of one stretch of columns at a time.
- tiled (``dot.c.j2``): tiles of the result live in vector registers for the whole inner dimension.
- blocked (``dot_blocked.c.j2``): the same for a long inner dimension, in passes, with the partial sums of one column
  panel kept in scratch between them.

In a tile one operand is read as vectors (B, lanes along ``j``) and broadcast elements of the other one (A) multiply
them. When the result has few columns, the roles are exchanged and the lanes run along ``i``. The epilogue does not see
the difference. How wide a vector is, and so how large a tile, only the C compiler knows (``tg_vector.h``).
"""

from __future__ import annotations

from ..sizes.standins import is_size
from .dot_records import (
    BroadcastOperand,
    DotKernel,
    DotOperand,
    PlainDot,
    Range,
    RowDot,
    Stream,
    TiledDot,
    Tiling,
    VectorOperand,
)
from .environment import render
from .loops import Loop
from .product_parts import parts_of, shared_whole

__all__ = ["DotKernel", "DotOperand", "render_dot", "scratch_bytes"]

#: Bytes of the widest vector; a panel is at most three of them wide. Narrower machines need less.
VECTOR_BYTES = 64
ITEM_BYTES = {"float": 4, "double": 8, "int32_t": 4, "int64_t": 8}

#: The longest pass over the inner dimension: a packed panel of this many rows (128 KiB at two vectors) stays in L2
#: while all rows of A pass by.
LONGEST_BLOCK = 1024
#: Below this many rows, reading B in place costs less than packing it.
ROWS_WORTH_PACKING = 64
#: With this many columns, each element of A is read often enough that packing A pays where its rows are not contiguous.
COLUMNS_WORTH_PACKING = 128
#: Results from this size on are walked through row by row, so that each memory page is visited once: all columns at a
#: time, or as many as the packed B has within `HALF_L2`.
LARGE_RESULT = 256 * 1024
#: The same for results that are stored and nothing else: 768 x 384 takes 231 GF/s tile by tile, 204 row by row.
LARGE_PLAIN_RESULT = 4 * 1024 * 1024
HALF_L2 = 512 * 1024
#: Rows of A that are a multiple of this apart fall into one set of the L1 cache and evict each other.
WAY_BYTES = 4096
#: A packed panel longer than this is read from L2 by each tile, eight rows ahead of their use.
HALF_L1 = 16 * 1024
#: ``TG_TILE_ROWS`` never gives more.
MOST_TILE_ROWS = 14
#: Fewer columns than this would leave most lanes of a vector idle.
FEWEST_COLUMNS = 8
#: Bytes of columns of a row product whose sums stay in L1 while the rows of the matrix pass by.
LONGEST_STRETCH = 16 * 1024
#: Matrices larger than this come from beyond L2, at the speed at which they are asked for: the lines of a piece of a
#: row are asked for so many bytes ahead, which takes 0.6 of the time.
LEAST_STREAM, AHEAD, PIECE, LINE = 2 * 1024 * 1024, 16 * 1024, 2048, 64
#: Run-time sizes get the tiles of results this large. The last one is filled up: it has packed rows.
USUAL_EXTENT = 1024
#: From so many columns on, there are enough panels for threads to share them.
MANY_COLUMNS = 256
#: Products with fewer multiplications than this gain nothing from tiles.
TINY_WORK = 64

#: Columns that are packed at a time where not all are.
_STRETCH = Range("dot_stretch", "dot_stretch_end")

#: Unsigned sums wrap around; signed ones would be undefined.
_SUM_TYPE = {"float": "float", "double": "double", "int32_t": "uint32_t", "int64_t": "uint64_t"}


def render_dot(kernel: DotKernel) -> str:
    """The C text of one product: static functions, of which the last one bears the kernel's name."""
    if _is_plain(kernel):
        return render("dot_plain.c.j2", _plain_record(kernel))
    if _is_row(kernel):
        return render("dot_row.c.j2", _row_record(kernel))
    tiling = _tiling(kernel)
    return render("dot_blocked.c.j2" if tiling.blocked else "dot.c.j2", _tiled_record(kernel, tiling))


def scratch_bytes(kernel: DotKernel) -> int:
    """Bytes behind the kernel's parameter ``char *restrict scratch``, aligned to 64; 0: there is no such parameter."""
    return 0 if _is_plain(kernel) or _is_row(kernel) else _tiling(kernel).scratch_bytes


def axis_to_share(kernel: DotKernel) -> tuple[str, int]:
    """What of a product threads can share best, and its extent: turns of a loop of the batch, rows, or columns."""
    longest = max(enumerate(kernel.batch), key=lambda axis: axis[1], default=(0, 1))
    if longest[1] > 1:
        return f"z{longest[0]}", longest[1]
    if _is_plain(kernel):
        return ("i", kernel.m) if kernel.m >= kernel.n else ("j", kernel.n)
    if _is_row(kernel):
        return "columns", max(kernel.m, kernel.n)
    tiling = _tiling(kernel)
    # Each thread packs the panels that it reads: those of its own columns, if there are enough; few are packed twice.
    by_rows = tiling.panels_first or (tiling.columns < MANY_COLUMNS and tiling.rows > tiling.columns)
    return ("rows", tiling.rows) if by_rows else ("columns", tiling.columns)


def _tiling(kernel: DotKernel) -> Tiling:
    a, b = kernel.a, kernel.b
    rows, columns, row, column = kernel.m, kernel.n, "i", "j"
    if kernel.n < FEWEST_COLUMNS and kernel.n < kernel.m:
        a, b = _transposed(b), _transposed(a)
        rows, columns, row, column = kernel.n, kernel.m, "j", "i"
    block, blocked = _passes(kernel.k)
    item = ITEM_BYTES[kernel.ctype]
    panel_row = _panel_row_bytes(columns, item)
    row_bytes = _padded_row_bytes(columns, item, panel_row)
    whole_tiles = columns * item % panel_row == 0
    packing = _packing(b, may_read_in_place=whole_tiles and not blocked and rows <= ROWS_WORTH_PACKING)
    enough = LARGE_PLAIN_RESULT if len(kernel.epilogue) == 1 else LARGE_RESULT
    large = not is_size(rows * columns) and rows * columns * item >= enough and not blocked and packing != "none"
    stretch = _stretch(kernel.k, columns, panel_row // item, item) if large else columns
    panels_first = large and stretch == columns
    stretch_bytes = _padded_row_bytes(stretch, item, panel_row)
    conflicts = a.row_stride * item % WAY_BYTES == 0 and rows > 1
    rows_packed = is_size(rows) or columns >= COLUMNS_WORTH_PACKING and (a.column_stride != 1 or conflicts)
    sums_rows = _sums_rows(rows, blocked, large)
    return Tiling(
        a=a,
        b=b,
        row=row,
        column=column,
        rows=rows,
        columns=columns,
        block=block,
        blocked=blocked,
        by_rows=large,
        panels_first=panels_first,
        stretch=stretch,
        packing=packing,
        rows_packed=rows_packed,
        sums_rows=sums_rows,
        panel_bytes=0 if packing == "none" else kernel.k * stretch_bytes if large else block * panel_row,
        sums_bytes=sums_rows * (stretch_bytes if large else row_bytes),
        # The last tile may lack almost all of its rows.
        packed_bytes=(rows + MOST_TILE_ROWS) * block * item if rows_packed else 0,
    )


def _stretch(depth: int, columns: int, panel: int, item: int) -> int:
    """How many columns are packed at a time, so that the panels stay in L2: all, or equal numbers of whole panels."""
    most = max(1, HALF_L2 // (depth * panel * item))
    panels = -(-columns // panel)
    if panels <= most:
        return columns
    return -(-panels // -(-panels // most)) * panel


def _sums_rows(rows: int, blocked: bool, by_rows: bool) -> int:
    """Of how many rows the sums are kept in memory: all of a blocked product, one tile's with whole rows."""
    if blocked:
        return rows + MOST_TILE_ROWS if is_size(rows) else rows
    return MOST_TILE_ROWS if by_rows else 0


def _passes(k: int) -> tuple[int, bool]:
    """How long one pass over the inner dimension is, and whether there may be several."""
    if is_size(k):
        return LONGEST_BLOCK, True
    blocks = -(-k // LONGEST_BLOCK)
    return -(-k // blocks), blocks > 1


def _padded_row_bytes(columns: int, item: int, panel_row: int) -> int:
    """Bytes of one row in whole panels; one more than needed for run-time sizes, which cannot be rounded up here."""
    return columns * item + panel_row if is_size(columns) else -(-columns * item // panel_row) * panel_row


def _is_plain(kernel: DotKernel) -> bool:
    work = kernel.m * kernel.n * kernel.k
    along_k = kernel.a.column_stride == 1 and kernel.b.row_stride == 1
    return kernel.ctype not in ("float", "double") or work <= TINY_WORK or (min(kernel.m, kernel.n) == 1 and along_k)


def _is_row(kernel: DotKernel) -> bool:
    one_row = kernel.m == 1 and kernel.b.column_stride == 1
    return one_row or (kernel.n == 1 and kernel.a.row_stride == 1)


def _row_record(kernel: DotKernel) -> RowDot:
    a, b, row, column, columns = kernel.a, kernel.b, "i", "j", kernel.n
    if kernel.m > 1:
        a, b, row, column, columns = _transposed(b), _transposed(a), "j", "i", kernel.m
    return RowDot(
        name=kernel.name,
        comment=kernel.comment,
        parameters=", ".join(kernel.parameters),
        batch=_batch_loops(kernel),
        ctype=kernel.ctype,
        row=row,
        column=column,
        columns=columns,
        tile_columns=min(columns, LONGEST_STRETCH // ITEM_BYTES[kernel.ctype]),
        k=kernel.k,
        scale_element=f"{a.name}[{_offset(a.batch_strides, (('p', a.column_stride),))}]",
        vector_row=f"{b.name} + {_offset(b.batch_strides, (('p', b.row_stride),))}",
        setup=kernel.setup,
        epilogue=kernel.epilogue,
        column_range=Range("begin", "end") if kernel.axis == "columns" else Range("0", str(columns)),
        shared=shared_whole(kernel),
    )


def _stream(kernel: DotKernel, a_element: str, b_element: str) -> Stream | None:
    """Where the matrix of a product with a vector is to be asked for before it is needed: it lies row behind row."""
    item = ITEM_BYTES[kernel.ctype]
    if is_size(kernel.m) or is_size(kernel.n) or is_size(kernel.k) or kernel.ctype not in ("float", "double"):
        return None
    rows, row_stride, element = kernel.m, kernel.a.row_stride, a_element
    if kernel.m == 1:
        rows, row_stride, element = kernel.n, kernel.b.column_stride, b_element
    if row_stride != kernel.k or rows * kernel.k * item < LEAST_STREAM or min(kernel.m, kernel.n) > 1:
        return None
    return Stream(element, PIECE // item, LINE // item, AHEAD // item)


def _plain_record(kernel: DotKernel) -> PlainDot:
    a, b = kernel.a, kernel.b
    a_element = f"{a.name}[{_offset(a.batch_strides, (('i', a.row_stride), ('p', a.column_stride)))}]"
    b_element = f"{b.name}[{_offset(b.batch_strides, (('p', b.row_stride), ('j', b.column_stride)))}]"
    return PlainDot(
        name=kernel.name,
        comment=kernel.comment,
        parameters=", ".join(kernel.parameters),
        batch=_batch_loops(kernel),
        row=_loop(kernel, "i", kernel.m),
        column=_loop(kernel, "j", kernel.n),
        m=kernel.m,
        n=kernel.n,
        k=kernel.k,
        ctype=kernel.ctype,
        sum_type=_SUM_TYPE[kernel.ctype],
        a_element=a_element,
        b_element=b_element,
        stream=_stream(kernel, a_element, b_element),
        setup=kernel.setup,
        epilogue=kernel.epilogue,
        shared=shared_whole(kernel),
    )


def _tiled_record(kernel: DotKernel, tiling: Tiling) -> TiledDot:
    name, blocked = kernel.name, tiling.blocked
    in_parts = kernel.axis in ("rows", "columns")
    rows, columns = Range("0", str(tiling.rows)), Range("0", str(tiling.columns))
    part = Range("dot_begin", "dot_end")
    return TiledDot(
        name=name,
        comment=kernel.comment,
        parameters=", ".join(kernel.parameters),
        batch=_batch_loops(kernel),
        ctype=kernel.ctype,
        vector=f"tg_{kernel.ctype}_vector",
        lanes=f"TG_{kernel.ctype.upper()}_LANES",
        transpose=f"tg_{kernel.ctype}_transpose",
        row=tiling.row,
        column=tiling.column,
        rows=tiling.rows,
        columns=tiling.columns,
        k=kernel.k,
        broadcast=_broadcast_operand(kernel, tiling),
        vectors=_vector_operand(kernel, tiling),
        blocked=blocked,
        by_rows=tiling.by_rows,
        panels_first=tiling.panels_first,
        stretch=tiling.stretch,
        block=tiling.block,
        depth="depth" if blocked else str(kernel.k),
        depth_parameter="long depth, " if blocked else "",
        tile_assignment="+=" if blocked else "=",
        tile_functions=_tile_functions(name, tiling.last_rows),
        shape_rows=USUAL_EXTENT if is_size(tiling.rows) else tiling.rows,
        shape_columns=USUAL_EXTENT if is_size(tiling.columns) else tiling.columns,
        last_rows=tiling.last_rows,
        sums_rows=tiling.sums_rows,
        size_parameters="".join(f"TG_UNUSED long {size}, " for size in kernel.sizes),
        size_arguments="".join(f"{size}, " for size in kernel.sizes),
        sums_offset=tiling.panel_bytes,
        sums_bytes=tiling.sums_bytes,
        setup=kernel.setup,
        epilogue=kernel.epilogue,
        row_range=part if kernel.axis == "rows" else rows,
        column_range=part if kernel.axis == "columns" else columns,
        panel_range=_panel_range(tiling, part if in_parts else columns),
        stretch_range=columns if tiling.panels_first else _STRETCH,
        panel_column="dot_column" if tiling.panels_first else f"(dot_column - {_STRETCH.first})",
        pack_range=Range("first", "last") if in_parts else rows,
        shared=None if in_parts else shared_whole(kernel, tiling.scratch_bytes),
        parts=parts_of(kernel, tiling, _base(tiling.a)) if in_parts else None,
    )


def _panel_range(tiling: Tiling, shared: Range) -> Range:
    """The columns whose panels are packed one after the other."""
    return shared if tiling.panels_first else _STRETCH


def _tile_functions(name: str, last_rows: bool) -> tuple[tuple[str, str], ...]:
    """Name and rows of each. Partial sums are added to, so a blocked product cannot compute rows twice: its last tile
    is a function of its own. The others let the last tile overlap, which halves what gcc has to unroll."""
    whole = (f"{name}_tile", f"{name}_tile_rows")
    return (whole, (f"{name}_last_tile", f"{name}_last_rows")) if last_rows else (whole,)


def _broadcast_operand(kernel: DotKernel, tiling: Tiling) -> BroadcastOperand:
    a, packed = tiling.a, tiling.rows_packed
    base = _base(a)
    in_place = "dot_scales" if tiling.blocked else base
    depth = "dot_depth" if tiling.blocked else str(kernel.k)
    return BroadcastOperand(
        base=base,
        row_stride=a.row_stride,
        depth_stride=a.column_stride,
        packed=packed,
        packed_offset=tiling.panel_bytes + tiling.sums_bytes,
        tile_base="dot_packed" if packed else in_place,
        tile_advance=depth if packed else str(a.row_stride),
        tile_row_stride="1" if packed else str(a.row_stride),
        tile_depth_stride=f"{kernel.name}_tile_rows" if packed else str(a.column_stride),
    )


def _vector_operand(kernel: DotKernel, tiling: Tiling) -> VectorOperand:
    b = tiling.b
    return VectorOperand(
        base=_base(b),
        depth_stride=b.row_stride,
        column_stride=b.column_stride,
        packing=tiling.packing,
        panel_stride=str(b.row_stride) if tiling.packing == "none" else f"{kernel.name}_tile_columns",
        prefetch=tiling.panel_bytes > HALF_L1,
    )


def _packing(b: DotOperand, may_read_in_place: bool) -> str:
    """How the vector operand gets into its panel; "none" when its own rows can serve as whole tiles."""
    if b.column_stride == 1:
        return "none" if may_read_in_place else "rows"
    return "transpose" if b.row_stride == 1 else "elements"


def _panel_row_bytes(columns: int, item_bytes: int) -> int:
    """The widest tile row that ``TG_TILE_VECTORS`` can choose on any machine; a multiple of the others."""
    lanes = VECTOR_BYTES // item_bytes
    if columns <= lanes:
        return VECTOR_BYTES
    return VECTOR_BYTES * (3 if 2 * lanes < columns <= 3 * lanes else 2)


def _batch_loops(kernel: DotKernel) -> tuple[Loop, ...]:
    return tuple(_loop(kernel, f"z{axis}", extent) for axis, extent in enumerate(kernel.batch))


def _loop(kernel: DotKernel, name: str, extent: int) -> Loop:
    """The loop `name`, over a part where threads share it."""
    return Loop(name, "end", begin="begin") if kernel.axis == name else Loop(name, str(extent))


def _transposed(operand: DotOperand) -> DotOperand:
    return DotOperand(operand.name, operand.batch_strides, operand.column_stride, operand.row_stride)


def _base(operand: DotOperand) -> str:
    """C for the address of the operand's first element within the current batch item."""
    offset = _offset(operand.batch_strides)
    return operand.name if offset == "0" else f"{operand.name} + {offset}"


def _offset(batch_strides: tuple[int, ...], indices: tuple[tuple[str, int], ...] = ()) -> str:
    """The sum of index * stride as C; "0" when nothing moves."""
    terms = [(f"z{axis}", stride) for axis, stride in enumerate(batch_strides)] + list(indices)
    return " + ".join(f"{index} * {stride}" for index, stride in terms if stride != 0) or "0"
