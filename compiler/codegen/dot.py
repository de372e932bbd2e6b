"""Matrix products: from the shape and strides of one ``dot`` to the record that its C template prints.

Three forms, chosen here and nowhere else:

- plain (``dot_plain.c.j2``): one sum per element. Integers, matrix-vector products along contiguous rows, tiny shapes.
- tiled (``dot.c.j2``): tiles of the result live in vector registers for the whole inner dimension.
- blocked (``dot_blocked.c.j2``): the same for a long inner dimension, in passes, with the partial sums of one column
  panel kept in scratch between them.

In a tile one operand is read as vectors (B, lanes along ``j``) and broadcast elements of the other one (A) multiply
them. When the result has few columns, the roles are exchanged and the lanes run along ``i``. The epilogue does not see
the difference. How wide a vector is, and so how large a tile, only the C compiler knows (``tg_vector.h``).
"""

from __future__ import annotations

from dataclasses import dataclass

from .environment import render

#: Bytes of the widest vector; a panel is at most three of them wide. Narrower machines need less.
VECTOR_BYTES = 64
ITEM_BYTES = {"float": 4, "double": 8, "int32_t": 4, "int64_t": 8}

#: One pass over the inner dimension: a packed panel of this many rows (128 KiB at two vectors) stays in L2 while all rows of A pass by.
LONGEST_BLOCK = 1024
#: Below this many rows, reading B in place costs less than packing it.
ROWS_WORTH_PACKING = 64
#: With this many columns, each element of A is read often enough that packing A pays where its rows are not contiguous.
COLUMNS_WORTH_PACKING = 128
#: A packed panel longer than this is read from L2 by each tile, eight rows ahead of their use.
HALF_L1 = 16 * 1024
#: ``TG_TILE_ROWS`` never gives more.
MOST_TILE_ROWS = 14
#: Fewer columns than this would leave most lanes of a vector idle.
FEWEST_COLUMNS = 8
#: Products with fewer multiplications than this gain nothing from tiles.
TINY_WORK = 64

#: Unsigned sums wrap around; signed ones would be undefined.
_SUM_TYPE = {"float": "float", "double": "double", "int32_t": "uint32_t", "int64_t": "uint64_t"}


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
    epilogue: tuple[str, ...]


@dataclass(frozen=True)
class TiledDot:
    """What ``dot.c.j2`` and ``dot_blocked.c.j2`` print.

    ``row`` and ``column`` are the epilogue's names of the tile's two directions. ``packing`` is "none", "copy" or
    "transpose"; ``depth`` is the length of one pass over the inner dimension, a number or the name of a parameter.
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
    broadcast_base: str
    broadcast_row_stride: int
    broadcast_depth_stride: int
    broadcast_packed: bool
    broadcast_offset: int
    tile_base: str
    tile_advance: int
    tile_row_stride: str
    tile_depth_stride: str
    vector_base: str
    vector_depth_stride: int
    vector_column_stride: int
    packing: str
    panel_stride: str
    prefetch: bool
    blocked: bool
    block: int
    depth: str
    depth_parameter: str
    tile_assignment: str
    tile_functions: tuple[tuple[str, str], ...]
    strip_offset: int
    scratch_bytes: int
    epilogue: tuple[str, ...]


def render_dot(kernel: DotKernel) -> str:
    """The C text of one product: static functions, of which the last one bears the kernel's name."""
    if _is_plain(kernel):
        return render("dot_plain.c.j2", _plain_record(kernel))
    record = _tiled_record(kernel)
    return render("dot_blocked.c.j2" if record.blocked else "dot.c.j2", record)


def scratch_bytes(kernel: DotKernel) -> int:
    """Bytes behind the kernel's parameter ``char *restrict scratch``, aligned to 64; with 0 it needs no such parameter."""
    if _is_plain(kernel):
        return 0
    return _tiled_record(kernel).scratch_bytes


def _is_plain(kernel: DotKernel) -> bool:
    work = kernel.m * kernel.n * kernel.k
    along_k = kernel.a.column_stride == 1 and kernel.b.row_stride == 1
    return kernel.ctype not in ("float", "double") or work <= TINY_WORK or (min(kernel.m, kernel.n) == 1 and along_k)


def _plain_record(kernel: DotKernel) -> PlainDot:
    a, b = kernel.a, kernel.b
    return PlainDot(
        name=kernel.name,
        comment=kernel.comment,
        parameters=", ".join(kernel.parameters),
        batch=_batch_loops(kernel),
        m=kernel.m,
        n=kernel.n,
        k=kernel.k,
        ctype=kernel.ctype,
        sum_type=_SUM_TYPE[kernel.ctype],
        a_element=f"{a.name}[{_offset(a.batch_strides, (('i', a.row_stride), ('p', a.column_stride)))}]",
        b_element=f"{b.name}[{_offset(b.batch_strides, (('p', b.row_stride), ('j', b.column_stride)))}]",
        epilogue=kernel.epilogue,
    )


def _tiled_record(kernel: DotKernel) -> TiledDot:
    a, b, name = kernel.a, kernel.b, kernel.name
    rows, columns, row, column = kernel.m, kernel.n, "i", "j"
    if kernel.n < FEWEST_COLUMNS and kernel.n < kernel.m:
        a, b = _transposed(b), _transposed(a)
        rows, columns, row, column = kernel.n, kernel.m, "j", "i"
    blocks = -(-kernel.k // LONGEST_BLOCK)
    block = -(-kernel.k // blocks)
    blocked = blocks > 1
    packing = _packing(kernel, b, rows, columns, blocked)
    panel_bytes = 0 if packing == "none" else block * _panel_row_bytes(kernel, columns)
    strip_bytes = rows * _panel_row_bytes(kernel, columns) if blocked else 0
    broadcast_packed = columns >= COLUMNS_WORTH_PACKING and a.column_stride != 1
    return TiledDot(
        name=name,
        comment=kernel.comment,
        parameters=", ".join(kernel.parameters),
        batch=_batch_loops(kernel),
        ctype=kernel.ctype,
        vector=f"tg_{kernel.ctype}_vector",
        lanes=f"TG_{kernel.ctype.upper()}_LANES",
        transpose=f"tg_{kernel.ctype}_transpose",
        row=row,
        column=column,
        rows=rows,
        columns=columns,
        k=kernel.k,
        broadcast_base=f"{a.name} + {_offset(a.batch_strides)}",
        broadcast_row_stride=a.row_stride,
        broadcast_depth_stride=a.column_stride,
        broadcast_packed=broadcast_packed,
        broadcast_offset=panel_bytes + strip_bytes,
        tile_base="dot_packed" if broadcast_packed else f"{a.name} + {_offset(a.batch_strides)}",
        tile_advance=kernel.k if broadcast_packed else a.row_stride,
        tile_row_stride="1" if broadcast_packed else str(a.row_stride),
        tile_depth_stride=f"{name}_tile_rows" if broadcast_packed else str(a.column_stride),
        vector_base=f"{b.name} + {_offset(b.batch_strides)}",
        vector_depth_stride=b.row_stride,
        vector_column_stride=b.column_stride,
        packing=packing,
        panel_stride=str(b.row_stride) if packing == "none" else f"{name}_tile_columns",
        prefetch=panel_bytes > HALF_L1,
        blocked=blocked,
        block=block,
        depth="depth" if blocked else str(kernel.k),
        depth_parameter="long depth, " if blocked else "",
        tile_assignment="+=" if blocked else "=",
        tile_functions=((f"{name}_tile", f"{name}_tile_rows"), (f"{name}_last_tile", f"{name}_last_rows")),
        strip_offset=panel_bytes,
        scratch_bytes=panel_bytes + strip_bytes + (_packed_rows_bytes(kernel, rows) if broadcast_packed else 0),
        epilogue=kernel.epilogue,
    )


def _packing(kernel: DotKernel, b: DotOperand, rows: int, columns: int, blocked: bool) -> str:
    """How the vector operand gets into its panel; "none" when its own rows can serve as whole tiles."""
    whole_tiles = columns % (_panel_row_bytes(kernel, columns) // ITEM_BYTES[kernel.ctype]) == 0
    if b.column_stride == 1 and whole_tiles and not blocked and rows <= ROWS_WORTH_PACKING:
        return "none"
    return "transpose" if b.row_stride == 1 and b.column_stride != 1 else "copy"


def _packed_rows_bytes(kernel: DotKernel, rows: int) -> int:
    """Whole tiles of the broadcast operand; the last tile may lack almost all of its rows."""
    return (rows + MOST_TILE_ROWS) * kernel.k * ITEM_BYTES[kernel.ctype]


def _panel_row_bytes(kernel: DotKernel, columns: int) -> int:
    """The widest tile row that ``TG_TILE_VECTORS`` can choose on any machine; a multiple of the others."""
    lanes = VECTOR_BYTES // ITEM_BYTES[kernel.ctype]
    if columns <= lanes:
        return VECTOR_BYTES
    return VECTOR_BYTES * (3 if 2 * lanes < columns <= 3 * lanes else 2)


def _batch_loops(kernel: DotKernel) -> tuple[BatchLoop, ...]:
    return tuple(BatchLoop(f"z{axis}", extent) for axis, extent in enumerate(kernel.batch))


def _transposed(operand: DotOperand) -> DotOperand:
    return DotOperand(operand.name, operand.batch_strides, operand.column_stride, operand.row_stride)


def _offset(batch_strides: tuple[int, ...], indices: tuple[tuple[str, int], ...] = ()) -> str:
    """The sum of index * stride as C; "0" when nothing moves."""
    terms = [(f"z{axis}", stride) for axis, stride in enumerate(batch_strides)] + list(indices)
    return " + ".join(f"{index} * {stride}" for index, stride in terms if stride != 0) or "0"
