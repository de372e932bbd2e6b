"""Convolutions: a window as the operand of a contraction, read in place of being written out (no im2col).

The sums of a tile stay in vector registers. Forward and for the input's gradient the lanes run along a row of places
and the weights are broadcast; for the weight's gradient the lanes run along the results' channels and the places of the
packed input are broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ....ops.types import DType
from ...graph import Node
from ...sizes.standins import NotSized, is_size
from ..dots import product_epilogue
from ..index import Index, Variable, flattened, of_variable
from ..lower import Memory, Stores
from ..memory import aligned
from ..records import ConvKernel, ConvTiling, Load, Statement, Store, indices, operands_in
from ..renaming import with_variables
from ..values import Origins
from .sliding import Geometry, geometry, reading, spreading

#: Places whose sums are kept until the epilogue: with some rows of them they stay in the L1 cache.
CHUNK_PLACES = 512
#: `TG_TILE_ROWS` never gives more; what tiles are filled up to.
MOST_TILE_ROWS = 14
#: `TG_WINDOW_ROWS` never gives more.
MOST_WEIGHT_ROWS = 26
#: A chunk of the packed input larger than this is read once for all rows of results, and their sums are kept.
HALF_L1 = 24 * 1024
MOST_REGISTERS = 32
#: Elements of the widest vector.
MOST_LANES = 16
#: With fewer channels than this the places of the kernel are rows of the weight's gradient, too.
FEWEST_CHANNELS = 8
#: With fewer results in a group than this, too many lanes would be idle.
FEWEST_ROWS = 4

CONVOLUTIONS = ("conv", "conv_input", "conv_weight")


def is_conv(node: Node) -> bool:
    return node.op.name in CONVOLUTIONS


def is_apart(kernel: ConvKernel) -> bool:
    """True where the weight's gradient takes each place of its kernel as a channel of its own."""
    return _is_apart(kernel.kind, kernel.rows, kernel.channels)


def _is_apart(kind: str, rows: int, channels: int) -> bool:
    return kind == "conv_weight" and channels < FEWEST_CHANNELS and not is_narrow(kind, rows)


def is_narrow(kind: str, rows: int) -> bool:
    """True where the results' channels are too few for lanes: they run along places for the weight's gradient, too."""
    return kind == "conv_weight" and rows < FEWEST_ROWS


def flat_base(node: Node) -> Node:
    """The node whose memory has the elements of `node` in the same order."""
    while node.op.name == "reshape":
        node = node.args[0]
    return node


def lower_conv(
    name: str, conv: Node, nodes: tuple[Node, ...], stores: Stores, memory: Memory, origins: Origins
) -> ConvKernel:
    """The convolution `conv` with the other `nodes` computed from it element by element. NotSized for extents that
    depend on a size, but for the batch's."""
    read, factors = (_buffer(arg, memory) for arg in conv.args)
    groups = conv.param("groups")
    kernel_shape = conv.type.shape if conv.op.name == "conv_weight" else conv.args[1].type.shape
    if any(is_size(n) for arg in (conv, *conv.args) for n in arg.type.shape[2:]) or any(map(is_size, kernel_shape)):
        raise NotSized("a convolution of arrays whose channels or space depend on a size")
    seen = _geometry(conv, kernel_shape)
    results, channels = kernel_shape[0] // groups, kernel_shape[1]
    rows, summed = (channels, results) if conv.op.name == "conv_input" else (results, channels)
    axes = tuple(Variable(f"z{axis}", extent) for axis, extent in enumerate(conv.type.shape))
    position = tuple(of_variable(v) for v in axes)
    epilogue = product_epilogue(conv, nodes, position, stores, memory, origins)
    flat = _flattened(epilogue, position, conv.type.shape) if conv.op.name == "conv_weight" else None
    return ConvKernel(
        name=name,
        kind=conv.op.name,
        dtype=conv.type.dtype,
        shape=conv.type.shape,
        images=conv.args[0].type.shape[0],
        kernel=kernel_shape[2:],
        groups=groups,
        rows=rows,
        channels=summed,
        geometry=seen,
        read=read,
        factors=factors,
        tiling=_tiling(conv.op.name, conv.type.dtype, groups, rows, summed, seen, flat is not None),
        epilogue=epilogue if flat is None else flat,
        op=conv.op.name,
        origin=origins(conv),
    )


def _buffer(node: Node, memory: Memory) -> str:
    while memory(node) is None:
        assert node.op.name == "reshape"
        node = node.args[0]
    return memory(node) or ""


def _geometry(conv: Node, weight: tuple[int, ...]) -> Geometry:
    kernel = weight[2:]
    steps, gaps, low = conv.param("steps"), conv.param("gaps"), conv.param("low")
    if conv.op.name == "conv_input":
        along = zip(conv.type.shape[2:], kernel, conv.args[0].type.shape[2:], steps, gaps, low, strict=True)
        return geometry(tuple(spreading(*axis) for axis in along), kernel)
    windows = conv.type.shape[2:] if conv.op.name == "conv" else conv.args[1].type.shape[2:]
    apart = _is_apart(conv.op.name, weight[0] // conv.param("groups"), weight[1])
    along = zip(conv.args[0].type.shape[2:], kernel, windows, steps, gaps, low, strict=True)
    return geometry(tuple(reading(n, k, o, step, gap, b, apart) for n, k, o, step, gap, b in along), kernel)


def _flattened(
    epilogue: Iterable[Statement], position: tuple[Index, ...], shape: tuple[int, ...]
) -> tuple[Statement, ...] | None:
    """The epilogue with one variable for all axes, if it goes through memory in order; else None."""
    element = flattened(position, shape)
    found: list[Index] = []
    for statement in epilogue:
        operands = operands_in(statement)
        found += [index for operand in operands for index in indices(operand)]
        if any(isinstance(operand, Load) and operand.ranges for operand in operands):
            return None
        found += [statement.index] if isinstance(statement, Store) else []
    if any(index.terms and index != element for index in found):
        return None
    return with_variables(epilogue, {element: of_variable(Variable("i", prod(shape)))})


# ----------------------------------------------------------------------------------------------------------- tiles


def _tiling(
    kind: str, dtype: DType, groups: int, rows: int, channels: int, seen: Geometry, is_flat: bool
) -> ConvTiling:
    item = dtype.itemsize
    packed = (groups * channels + (MOST_WEIGHT_ROWS if kind == "conv_weight" else 0)) * seen.channel + 4 * MOST_LANES
    if kind == "conv_weight":
        return _weight_tiling(item, groups, rows, channels, seen, packed, is_flat)
    high, across = seen.axes[1], seen.axes[2]
    widest, tallest = across.phases[0].count, high.phases[0].count
    chunk = max(1, min(tallest, CHUNK_PLACES // max(across.places, 1)))
    vectors = _vectors(rows, chunk, widest, across.places, 64 // item)
    plane = chunk * max(across.places, -(-widest // MOST_LANES) * MOST_LANES) + 9 * MOST_LANES
    panel = groups * (rows + MOST_TILE_ROWS) * channels * len(seen.taps)
    places = chunk * (across.places // (16 // item) + 1) + 16  # vectors of the narrowest machine
    one_phase = len(seen.phases) == 1
    reach = (chunk + seen.places[1] - high.phases[0].count) * across.places * prod(len(a.parts) for a in seen.axes)
    rows_inside = one_phase and channels * reach * item > HALF_L1
    kept = rows + MOST_TILE_ROWS if rows_inside else MOST_TILE_ROWS
    whole = 0 if one_phase else MOST_TILE_ROWS * prod(sum(phase.count for phase in axis.phases) for axis in seen.axes)
    sizes = (panel * item, packed * item, kept * plane * item, places * 8, whole * item)
    return ConvTiling(vectors, chunk, rows_inside, False, tuple(aligned(n) for n in sizes))


def _vectors(rows: int, chunk: int, wide: int, pitch: int, lanes: int) -> int:
    """The width of tiles that takes the fewest multiplications, filling included, with as many registers as there are
    on the widest machine. Where there are few rows, each of them gets more vectors."""
    if rows == 1:
        return 8
    count = min(chunk * -(-wide // lanes), ((chunk - 1) * pitch + wide + lanes - 1) // lanes)

    def work(vectors: int) -> int:
        tiles = -(-rows // ((MOST_REGISTERS - 1 - vectors) // vectors))
        return -(-count // vectors) * vectors * -(-rows // tiles) * tiles

    return min((4, 3, 2) if rows <= 4 else (2, 3, 5), key=work)


def _weight_tiling(
    item: int, groups: int, rows: int, channels: int, seen: Geometry, packed: int, is_flat: bool
) -> ConvTiling:
    """The lanes run along `rows`, the results' channels."""
    lanes = 64 // item
    vectors = 1 if rows <= lanes else 3 if 2 * lanes < rows <= 3 * lanes else 2
    columns = -(-rows // (vectors * lanes)) * vectors * lanes
    counts = seen.phases[0].counts
    taps = len(seen.taps)
    if is_narrow("conv_weight", rows):
        weight = groups * rows * channels * taps
        return ConvTiling(1, 0, False, is_flat, tuple(aligned(n * item) for n in (packed, taps * counts[2], 0, weight)))
    total = groups * columns * max(taps * (channels + MOST_WEIGHT_ROWS), taps * channels + MOST_WEIGHT_ROWS)
    sizes = (packed * item, vectors * lanes * prod(counts) * item, total * item, groups * rows * channels * taps * item)
    read = channels * seen.places[2] * prod(len(axis.parts) for axis in seen.axes)
    chunk = max(1, min(counts[1], 2 * HALF_L1 // ((read + counts[2] * vectors * lanes) * item)))
    return ConvTiling(vectors, chunk, False, is_flat, tuple(aligned(n) for n in sizes))
