"""Kernels that go through blocks of rows as records of ``row_blocks.c.j2``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

from ..schedule.expressions import Names
from ..schedule.literals import ctype
from ..schedule.records import Stage, View
from ..schedule.row_blocks.masks import LARGEST
from ..schedule.row_blocks.records import MOST_TILE_ROWS, Blocks, Limits, Panel, RowBlockKernel, Scores, Use, is_own
from .loops import Array, Loop, StageRecord, loops_record


@dataclass(frozen=True)
class PanelText:
    """An operand that is copied; `packing` is "rows", "transpose" or "elements"."""

    number: int
    base: str
    rows: int
    columns: int
    pitch: int
    row_stride: int
    column_stride: int
    packing: str
    offset: int
    count: int


@dataclass(frozen=True)
class ProductText:
    """A product of tiles: element (r, p) of what is broadcast lies at ``r * row_stride + p * depth_stride``."""

    number: int
    vectors: int
    rows: int
    columns: int
    row_stride: int
    depth_stride: int
    panel_pitch: int
    sums_pitch: int
    assignment: str
    role: str


@dataclass(frozen=True)
class ScoresText:
    """A call that makes a tile."""

    product: int
    tile: int
    rows_panel: int
    rows_pitch: int
    columns_panel: int
    columns: int
    depth: int


@dataclass(frozen=True)
class UseText:
    """A call that multiplies a tile, and where its sums go."""

    product: int
    tile: int
    panel: int
    panel_pitch: int
    of_columns: bool
    rows: int
    columns: int
    sums_bytes: int
    element: str
    offset: int


@dataclass(frozen=True)
class LimitsText:
    """Limits of rows: stages that store them, and where they lie, and those that exclude nothing."""

    stages: tuple[StageRecord, ...]
    of_batch: bool
    checked: tuple[PanelText, ...]
    everywhere: bool
    count: int
    largest: int
    offset: int
    all_offset: int


@dataclass(frozen=True)
class RowBlocksRecord:
    """What ``row_blocks.c.j2`` prints."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    ctype: str
    vector: str
    lanes: str
    transpose: str
    batch: tuple[Loop, ...]
    row: str
    rows: int
    block: int
    columns: int
    pitch: int
    fill: int
    scratch: str
    scratch_bytes: int
    panels: tuple[PanelText, ...]
    products: tuple[ProductText, ...]
    scores: tuple[ScoresText, ...]
    uses: tuple[UseText, ...]
    tiles: tuple[tuple[int, int], ...]
    arrays: tuple[Array, ...]
    limits: LimitsText | None
    before: tuple[StageRecord, ...]
    stages: tuple[StageRecord, ...]


def row_blocks_record(
    kernel: RowBlockKernel, names: Names, parameters: str, comment: tuple[str, ...]
) -> RowBlocksRecord:
    """The record of a kernel; `names` tells what it calls the buffers."""
    blocks, around = kernel.blocks, kernel.around

    def own(name: str) -> str:
        return name if is_own(name) else names(name)

    def stages(of: tuple[Stage, ...]) -> tuple[StageRecord, ...]:
        return loops_record(replace(around, stages=of), own, "").stages

    loops = loops_record(around, own, "")
    batch = tuple(v.name for v in around.outer[:-1])
    offsets = tuple(accumulate((0, *blocks.parts)))
    count = len(blocks.panels)
    c = ctype(blocks.dtype)
    panels = tuple(_panel(n, panel, offsets[n], batch, names) for n, panel in enumerate(blocks.panels))
    limits = None if blocks.limits is None else _limits(blocks, blocks.limits, stages(blocks.limits.stages), panels)
    return RowBlocksRecord(
        name=kernel.name,
        comment=comment,
        parameters=parameters,
        ctype=c,
        vector=f"tg_{c}_vector",
        lanes=f"TG_{c.upper()}_LANES",
        transpose=f"tg_{c}_transpose",
        batch=loops.outer[:-1],
        row=around.outer[-1].name,
        rows=blocks.rows,
        block=blocks.block,
        columns=blocks.width.columns,
        pitch=blocks.width.pitch,
        fill=MOST_TILE_ROWS,
        scratch=names(dict(kernel.outputs)["spare"]),
        scratch_bytes=offsets[-1],
        panels=panels,
        products=(
            *(_scores_product(blocks, n, scores) for n, scores in enumerate(blocks.scores)),
            *(_use_product(blocks, n + len(blocks.scores), use) for n, use in enumerate(blocks.uses)),
        ),
        scores=tuple(_scores(blocks, n, scores) for n, scores in enumerate(blocks.scores)),
        uses=tuple(
            _use(blocks, n, use, offsets[count + blocks.tiles + n], batch, names) for n, use in enumerate(blocks.uses)
        ),
        tiles=tuple((n, offsets[count + n]) for n in range(blocks.tiles)),
        arrays=loops.arrays,
        limits=limits,
        before=tuple(_ended(stage, kernel) for stage in stages(kernel.before)),
        stages=tuple(_ended(stage, kernel) for stage in loops.stages),
    )


def _limits(
    blocks: Blocks, limits: Limits, stages: tuple[StageRecord, ...], panels: tuple[PanelText, ...]
) -> LimitsText:
    offsets = tuple(accumulate((0, *blocks.parts)))
    return LimitsText(
        stages=stages,
        of_batch=limits.of_batch,
        checked=tuple(panels[n] for n in limits.checked),
        everywhere=limits.everywhere,
        count=blocks.limit_count,
        largest=LARGEST,
        offset=offsets[-3],
        all_offset=offsets[-2],
    )


def _panel(number: int, panel: Panel, offset: int, batch: tuple[str, ...], names: Names) -> PanelText:
    view = panel.view
    packing = "rows" if view.column_stride == 1 else "transpose" if view.row_stride == 1 else "elements"
    return PanelText(
        number=number,
        base=_base(view, batch, names),
        rows=panel.rows,
        columns=panel.width.columns,
        pitch=panel.width.pitch,
        row_stride=view.row_stride,
        column_stride=view.column_stride,
        packing=packing,
        offset=offset,
        count=panel.rows * panel.width.pitch,
    )


def _ended(stage: StageRecord, kernel: RowBlockKernel) -> StageRecord:
    """The stage with rows that end at the block's last limit."""
    blocks = kernel.blocks
    if blocks.limits is None or not blocks.limits.everywhere:
        return stage
    return replace(stage, loops=tuple(replace(loop, end="columns") for loop in stage.loops))


def _base(view: View, batch: tuple[str, ...], names: Names) -> str:
    moving = [f"{index} * {stride}" for index, stride in zip(batch, view.batch_strides, strict=True) if stride]
    return " + ".join([names(view.buffer), *moving, *([str(view.offset)] if view.offset else [])])


def _scores_product(blocks: Blocks, number: int, scores: Scores) -> ProductText:
    return ProductText(
        number=number,
        vectors=blocks.width.vectors,
        rows=blocks.block,
        columns=blocks.width.padded,
        row_stride=blocks.panels[scores.rows].width.pitch,
        depth_stride=1,
        panel_pitch=blocks.width.pitch,
        sums_pitch=blocks.width.pitch,
        assignment="=",
        role="scores",
    )


def _use_product(blocks: Blocks, number: int, use: Use) -> ProductText:
    width, pitch = blocks.panels[use.panel].width, blocks.width.pitch
    return ProductText(
        number=number,
        vectors=width.vectors,
        rows=blocks.rows_of(use),
        columns=width.padded,
        row_stride=1 if use.of_columns else pitch,
        depth_stride=pitch if use.of_columns else 1,
        panel_pitch=width.pitch,
        sums_pitch=width.pitch,
        assignment="+=" if use.of_columns else "=",
        role="columns" if use.of_columns else "rows",
    )


def _scores(blocks: Blocks, number: int, scores: Scores) -> ScoresText:
    return ScoresText(
        product=number,
        tile=scores.tile,
        rows_panel=scores.rows,
        rows_pitch=blocks.panels[scores.rows].width.pitch,
        columns_panel=scores.columns,
        columns=blocks.width.padded,
        depth=scores.depth,
    )


def _use(blocks: Blocks, number: int, use: Use, offset: int, batch: tuple[str, ...], names: Names) -> UseText:
    panel, view = blocks.panels[use.panel], use.target
    row = "r" if use.of_columns else "(rows_begin + r)"
    places = [f"{index} * {stride}" for index, stride in zip(batch, view.batch_strides, strict=True) if stride]
    places += [f"{row} * {view.row_stride}", "c" if view.column_stride == 1 else f"c * {view.column_stride}"]
    return UseText(
        product=number + len(blocks.scores),
        tile=use.tile,
        panel=use.panel,
        panel_pitch=panel.width.pitch,
        of_columns=use.of_columns,
        rows=blocks.rows_of(use),
        columns=panel.width.columns,
        sums_bytes=blocks.parts[len(blocks.panels) + blocks.tiles + number],
        element=f"{names(view.buffer)}[{' + '.join([*places, *([str(view.offset)] if view.offset else [])])}]",
        offset=offset,
    )
