"""Matrix products that threads share: as a whole, in pieces of one loop, or as parts that run one after the other."""

from __future__ import annotations

from .dot_records import DotKernel, Parts, Tiling
from .sharing import SharedRecord, shared_record, worth

_SHARED = "char *restrict shared"


def shared_whole(kernel: DotKernel, scratch_bytes: int = 0) -> SharedRecord | None:
    """The record of a product that is one part."""
    split = kernel.split
    if split is None:
        return None
    whole = worth(split.extent, split)
    return shared_record(kernel.parameters, str(split.extent), str(split.grain), whole, scratch_bytes)


def parts_of(kernel: DotKernel, tiling: Tiling, rows: str) -> Parts:
    """The parts of a tiled product that is split along rows or columns of tiles; its rows begin at `rows`."""
    name, blocked = kernel.name, tiling.blocked
    in_pass = ("long dot_p", "long dot_depth") if blocked else ()
    depth = "dot_depth" if blocked else str(kernel.k)
    start = f" + dot_p * {tiling.a.column_stride}" if blocked else ""
    extent = tiling.rows if kernel.axis == "rows" else tiling.columns

    def part(tile: str, count: int, grain: str, all_of_it: str, shared: tuple[str, ...]) -> SharedRecord:
        pieces = f"TG_PIECES({count}, {tile})"
        given = (_SHARED, *shared) if tiling.scratch_bytes else ()
        return shared_record(kernel.parameters, pieces, grain, all_of_it, tiling.scratch_bytes, given)

    def packing(tile: str, count: int) -> SharedRecord:
        elements = f"{depth} * {tile}"
        return part(tile, count, f"TG_PIECES(TG_PACKED, {elements})", f"{depth} * {count} / TG_PACKED", in_pass)

    assert kernel.split is not None
    tile = f"{name}_tile_{kernel.axis}"
    grain = f"TG_PIECES({kernel.split.grain}, {tile})"
    whole = worth(extent, kernel.split)
    return Parts(
        axis=kernel.axis,
        extent=extent,
        has_scratch=tiling.scratch_bytes > 0,
        scales=f"{rows}{start}",
        depth_argument="dot_depth, " if blocked else "",
        pack_rows=packing(f"{name}_tile_rows", tiling.rows) if tiling.rows_packed else None,
        panels=packing(f"{name}_tile_columns", tiling.columns) if tiling.panels_first else None,
        main=part(tile, extent, grain, whole, in_pass),
        after=part(tile, extent, grain, whole, ()),
    )
