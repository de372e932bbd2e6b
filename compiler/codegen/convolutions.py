"""Convolutions of a schedule as records of ``conv.c.j2`` and ``conv_weight.c.j2``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

from ..schedule.expressions import Names, statement_text
from ..schedule.index import Variable, flattened, of_variable
from ..schedule.literals import ctype
from ..schedule.records import ConvKernel, Split
from ..schedule.windows.convolutions import is_apart, is_narrow
from ..schedule.windows.sliding import AXES, Phase, Piece
from .dot_records import Range
from .environment import render
from .loops import Loop
from .products import parted
from .sharing import SharedRecord, shared_record, worth

SIMD = "#pragma omp simd"


@dataclass(frozen=True)
class ConvRecord:
    """What both templates print. Strides and offsets count elements, `scratch` bytes to each part of the memory."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    ctype: str
    vector: str
    lanes: str
    transpose: str
    read: str
    factors: str
    images: int
    groups: int
    rows: int
    channels: int
    image: int
    image_channel: int
    image_strides: tuple[int, ...]
    places: tuple[int, ...]
    counts: tuple[int, ...]
    chunk: int
    pieces: tuple[tuple[int, ...], ...]
    packed_channels: int
    packed_channel: int
    packed_group: int
    packed_bytes: int
    scratch: tuple[int, ...]
    setup: tuple[str, ...]
    epilogue: tuple[str, ...]
    shared: SharedRecord | None

    @property
    def piece_count(self) -> int:
        return len(self.pieces)


@dataclass(frozen=True)
class SlidingRecord(ConvRecord):
    """What ``conv.c.j2`` prints: the lanes run along places."""

    vectors: int
    rows_inside: bool
    depth: int
    taps: tuple[int, ...]
    offsets: tuple[int, ...]
    phases: tuple[Phase, ...]
    weight_group: int
    weight_row: int
    weight_channel: int
    position: tuple[str, ...]
    last: str
    result: tuple[int, ...]
    result_steps: tuple[int, ...]
    image_range: Range

    @property
    def tap_count(self) -> int:
        return len(self.taps)

    @property
    def phase_count(self) -> int:
        return len(self.phases)

    @property
    def one_phase(self) -> bool:
        return len(self.phases) == 1

    @property
    def tile_rows(self) -> str:
        """C for the rows of a tile; a single row leaves room for many vectors."""
        return "1" if self.rows == 1 else f"TG_TILE_ROWS({self.rows}, {self.name}_vectors)"


@dataclass(frozen=True)
class WeightRecord(ConvRecord):
    """What ``conv_weight.c.j2`` prints: the lanes run along the results' channels."""

    windows: int
    tile_channels: int
    tile_channel: int
    tile_offsets: tuple[int, ...]
    results: int
    sums_bytes: int
    is_narrow: bool
    loops: tuple[Loop, ...]
    element: str
    parts: int
    total: str  # where the sums of one part of the images lie

    @property
    def tile_taps(self) -> int:
        return len(self.tile_offsets)


def conv_record(
    kernel: ConvKernel,
    names: Names,
    parameters: tuple[str, ...],
    comment: tuple[str, ...],
    element: Callable[[str], str],
) -> ConvRecord:
    """The record of a convolution; `element` tells the C type of a buffer's elements."""
    common = _common(kernel, names, parameters, comment, element)
    return _weight_record(kernel, common) if kernel.kind == "conv_weight" else _sliding_record(kernel, common)


def render_conv(record: ConvRecord) -> str:
    """The C text of one convolution: static functions, of which the last one bears the kernel's name."""
    if not isinstance(record, WeightRecord):
        return render("conv.c.j2", record)
    return render("conv_weight_few.c.j2" if record.is_narrow else "conv_weight.c.j2", record)


def _common(
    kernel: ConvKernel,
    names: Names,
    parameters: tuple[str, ...],
    comment: tuple[str, ...],
    element: Callable[[str], str],
) -> dict[str, Any]:
    fixed, each = parted(kernel.epilogue, element)
    of, seen, scratch = ctype(kernel.dtype), kernel.geometry, kernel.tiling.scratch
    _, high, wide = (axis.extent for axis in seen.axes)
    channel = prod(axis.extent for axis in seen.axes)
    return dict(
        name=kernel.name,
        comment=comment,
        parameters=", ".join(parameters),
        ctype=of,
        vector=f"tg_{of}_vector",
        lanes=f"TG_{of.upper()}_LANES",
        transpose=f"tg_{of}_transpose",
        read=names(kernel.read),
        factors=names(kernel.factors),
        images=kernel.images,
        groups=kernel.groups,
        rows=kernel.rows,
        channels=kernel.channels,
        image=kernel.groups * kernel.channels * channel,
        image_channel=channel,
        image_strides=(seen.steps[0] * high * wide, seen.steps[1] * wide, seen.steps[2]),
        places=seen.places,
        counts=seen.phases[0].counts,
        chunk=kernel.tiling.chunk,
        pieces=tuple(_piece(piece, high, wide) for piece in seen.pieces) or ((0,) * 8,),
        packed_channels=kernel.groups * kernel.channels,
        packed_channel=seen.channel,
        packed_group=kernel.channels * seen.channel,
        scratch=tuple(accumulate(scratch)),
        setup=tuple(line for statement in fixed for line in statement_text(statement, names)),
        epilogue=tuple(line for statement in each for line in statement_text(statement, names)),
        shared=None if kernel.split is None else _shared(kernel, kernel.split, parameters),
    )


def _shared(kernel: ConvKernel, split: Split, parameters: tuple[str, ...]) -> SharedRecord:
    """Threads share images, or the sums for parts of them, which are apart for blocks of channels."""
    extent = str(split.parts or split.extent)
    if split.parts and not is_narrow(kernel.kind, kernel.rows):
        extent = f"{split.parts} * {kernel.groups} * TG_PIECES({kernel.rows}, {kernel.name}_columns)"
    whole = worth(split.parts or split.extent, split)
    return shared_record(parameters, extent, str(split.grain), whole, kernel.scratch_bytes, ("char *restrict shared",))


def _piece(piece: Piece, high: int, wide: int) -> tuple[int, ...]:
    z, y, x = piece.source
    bounds = (bound for pair in zip(piece.low, piece.high, strict=True) for bound in pair)
    return (piece.offset, *bounds, (z * high + y) * wide + x)


def _sliding_record(kernel: ConvKernel, common: dict[str, Any]) -> SlidingRecord:
    seen, places = kernel.geometry, prod(kernel.kernel)
    rows, channels = kernel.rows, kernel.channels
    missing = AXES - len(kernel.kernel)
    counted = ("conv_z", "conv_y" if len(seen.phases) > 1 else "conv_y + conv_h")[missing:]
    position = tuple(f"const long z{2 + axis} = {place};" for axis, place in enumerate(counted))
    transposed = kernel.kind == "conv_input"
    return SlidingRecord(
        **common,
        packed_bytes=kernel.tiling.scratch[1],
        vectors=kernel.tiling.vectors,
        rows_inside=kernel.tiling.rows_inside,
        depth=channels * len(seen.taps),
        taps=tuple(place for place, _ in seen.taps) or (0,),
        offsets=tuple(offset for _, offset in seen.taps) or (0,),
        phases=seen.phases,
        weight_group=rows * channels * places,
        weight_row=places if transposed else channels * places,
        weight_channel=rows * places if transposed else places,
        position=(f"const long z1 = conv_group * {rows} + conv_row + conv_r;", *position),
        last=f"z{len(kernel.shape) - 1}",
        result=(*(1,) * missing, *kernel.shape[2:]),
        result_steps=seen.result_steps,
        image_range=Range("begin", "end") if kernel.split else Range("0", str(kernel.images)),
    )


def _weight_record(kernel: ConvKernel, common: dict[str, Any]) -> WeightRecord:
    seen = kernel.geometry
    apart = prod(len(axis.parts) for axis in seen.axes) if is_apart(kernel) else 1
    offsets = (0,) if is_apart(kernel) else tuple(offset for _, offset in seen.taps)
    axes = tuple(Variable(f"z{axis}", extent) for axis, extent in enumerate(kernel.shape))
    flat = Loop("i", str(prod(kernel.shape)), SIMD)
    nest = (*(Loop(v.name, str(v.extent)) for v in axes[:-1]), Loop(axes[-1].name, str(axes[-1].extent), SIMD))
    narrow = is_narrow(kernel.kind, kernel.rows)
    element = "i" if kernel.tiling.is_flat else str(flattened(tuple(of_variable(v) for v in axes), kernel.shape))
    return WeightRecord(
        **common,
        packed_bytes=kernel.tiling.scratch[0],
        windows=prod(seen.phases[0].counts),
        tile_channels=kernel.channels * apart,
        tile_channel=seen.channel // apart,
        tile_offsets=offsets,
        results=kernel.groups * kernel.rows,
        sums_bytes=kernel.tiling.scratch[3],
        is_narrow=narrow,
        loops=(flat,) if kernel.tiling.is_flat else nest,
        element=element,
        parts=kernel.split.parts if kernel.split else 0,
        total="conv_own" if kernel.split else "conv_sums" if narrow else "conv_total",
    )
