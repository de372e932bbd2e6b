"""Which kernels threads share, along which loop, and in pieces of what size.

A kernel is split along one loop whose turns do not depend on each other: what each of them stores is its own. Sums
that go on from one turn to the next are added up in parts, as many for any number of threads. So a result is the same
number, to the last bit, however the turns are shared.

The least piece, a grain, is work worth handing to another thread. The C compares extents with it when it runs: a
program for all sizes stays on one thread where a size is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from ...ops.types import float32, float64
from ..codegen.products import axis_to_share
from ..sizes.standins import is_size
from .index import Variable
from .live import form_cost
from .memory import aligned
from .records import ConvKernel, DotKernel, Fold, Kernel, Let, LoopKernel, Split, Stage, Statement, Store
from .traffic import statement_indices
from .windows.convolutions import is_narrow

#: Nanoseconds of work in a grain (`GRAIN_NS` in runtime/pool.c). Starting and ending a shared kernel takes half of one.
GRAIN = 2500
#: Nanoseconds for one element: of an addition in a vector, and of a load or a store from the second level of cache.
ADDITION, ACCESS = 0.02, 0.03
#: Nanoseconds for one multiplication of a product: in tiles, by type, and where each operand is read once.
IN_TILES = {float32: 0.009, float64: 0.018}
READ_ONCE = 0.03
#: Parts that a sum is cut into, at most: of loops, of images. Of convolutions: bytes of sums for each nanosecond of
#: work; of loops: numbers that their sums may have, which lie on the stack.
MOST_PARTS, MOST_IMAGE_PARTS = 16, 8
WORTH_BYTES = 1.5
MOST_TOTALS = 40960
#: What a loop is taken to run where its length is a size.
USUAL_LENGTH = 16
#: Pieces of a contiguous loop begin at multiples of this many elements: a cache line of the smallest type. Other long
#: pieces hold whole tiles of loops that walk through memory in different orders.
LINE, TILE = 64, 32
#: Turns that a loop should have to be split, if another one has more.
ENOUGH_TURNS = 32


def shared(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels, those with a split that have work for two threads."""
    return tuple(_shared(kernel) for kernel in kernels)


def _shared(kernel: Kernel) -> Kernel:
    if isinstance(kernel, LoopKernel):
        split = _split_of_loops(kernel)
        return replace(kernel, split=split) if split is not None and _is_worth(split) else kernel
    if isinstance(kernel, DotKernel):
        split = _split_of_product(kernel)
        return replace(kernel, split=split) if _is_worth(split) else kernel
    return _shared_convolution(kernel) if isinstance(kernel, ConvKernel) else kernel


def _is_worth(split: Split) -> bool:
    """True where there is work for two threads."""
    return split.extent >= 2 * split.grain


# ------------------------------------------------------------------------------------------------ loops


def _split_of_loops(kernel: LoopKernel) -> Split | None:
    variable = _variable(kernel)
    if variable is None:
        return None
    others = [v for v in kernel.outer if v != variable]
    each = prod(map(_turns, others)) * sum(_nanoseconds(stage, variable) for stage in kernel.stages)
    if kernel.totals:
        most = MOST_TOTALS // sum(max(total.size, 1) for total in kernel.totals)
        return _in_parts(variable.name, variable.extent, each, most)
    innermost = all(stage.loops[-1:] == (variable,) for stage in kernel.stages)
    return _split(variable.name, variable.extent, each, LINE if innermost else TILE)


def _split(axis: str, extent: int, each: float, whole: int) -> Split:
    """The split of a loop whose turns take `each` nanoseconds; long pieces are multiples of `whole`."""
    turns = max(1, int(GRAIN / max(each, 1e-3)))
    grain = -(-turns // whole) * whole if turns > whole else turns
    return Split(axis, extent, grain, max(1, int(each * grain / GRAIN)))


def _variable(kernel: LoopKernel) -> Variable | None:
    """The loop whose turns threads may share."""
    if kernel.outer:
        found = _longest_enough(kernel.outer)
    elif len(kernel.stages) == 1 and not kernel.stages[0].accumulators and kernel.stages[0].loops:
        found = _longest_enough(kernel.stages[0].loops)
    else:
        return None
    return found if all(_is_own(s, found) for stage in kernel.stages for s in stage.body) else None


def _longest_enough(loops: Sequence[Variable]) -> Variable:
    """The first loop with enough turns; the longest if none has."""
    return next((v for v in loops if v.extent >= ENOUGH_TURNS), max(loops, key=lambda v: v.extent))


def _is_own(statement: Statement, variable: Variable) -> bool:
    """True unless what a statement stores could be stored, or read, in another turn of the loop."""
    return not isinstance(statement, Store) or variable in statement.index.variables()


def _in_parts(axis: str, extent: int, each: float, most: int) -> Split | None:
    """The split of a loop that adds up, in up to `most` parts; None where there is no work for two."""
    whole = each * _length(extent)
    parts = min(most, MOST_PARTS, _length(extent), int(whole / GRAIN))
    if parts < 2:
        return None
    even = 1 << parts.bit_length() - 1  # so that two, four or eight threads have equal shares
    return Split(axis, extent, 1, max(1, int(whole / even / GRAIN)), even)


def _nanoseconds(stage: Stage, without: Variable) -> float:
    """Roughly what a stage takes, for one turn of the loop `without`."""
    turns = prod(_turns(v) for v in stage.loops if v != without)
    return turns * sum(map(_cost, stage.body))


def _turns(variable: Variable) -> int:
    return _length(variable.extent)


def _length(extent: int) -> int:
    return USUAL_LENGTH if is_size(extent) else extent


def _cost(statement: Statement) -> float:
    accesses = ACCESS * len(statement_indices(statement))
    if isinstance(statement, Let):
        return ADDITION * form_cost(statement.form) + accesses
    return (ADDITION if isinstance(statement, Fold) else 0) + accesses


# ------------------------------------------------------------------------------------------------ products


def _split_of_product(kernel: DotKernel) -> Split:
    axis, extent = axis_to_share(kernel)
    elements = prod(map(_length, (*kernel.batch, kernel.m, kernel.n)))
    each = READ_ONCE if 1 in (kernel.m, kernel.n) else IN_TILES.get(kernel.dtype, READ_ONCE)
    whole = elements * (_length(kernel.k) * each + sum(map(_cost, kernel.epilogue)))
    is_stretch = axis == "columns" and 1 in (kernel.m, kernel.n)
    return _split(axis, extent, whole / max(1, _length(extent)), LINE if is_stretch else 1)


# ------------------------------------------------------------------------------------------------ convolutions


def _shared_convolution(kernel: ConvKernel) -> ConvKernel:
    """The images are shared. What is summed over them is summed in parts, as many for any number of threads."""
    if kernel.kind == "conv_weight":
        return _shared_in_parts(kernel)
    image = prod(map(_length, kernel.shape[1:])) * (_multiplications(kernel) + sum(map(_cost, kernel.epilogue)))
    split = _split("images", kernel.images, image, 1)
    return replace(kernel, split=split) if _is_worth(split) else kernel


def _multiplications(kernel: ConvKernel) -> float:
    """Nanoseconds for an element of the result."""
    return kernel.channels * prod(kernel.kernel) * IN_TILES.get(kernel.dtype, READ_ONCE)


def _shared_in_parts(kernel: ConvKernel) -> ConvKernel:
    tiling = kernel.tiling
    packed, panel, total, sums = tiling.scratch
    places = prod(kernel.geometry.phases[0].counts)
    image = kernel.groups * kernel.rows * places * _multiplications(kernel)
    each = sums if is_narrow(kernel.kind, kernel.rows) else total
    # Clearing and adding up the sums of a part should take little of the time of its images.
    affordable = int(image * _length(kernel.images) * WORTH_BYTES / max(each, 1))
    split = _in_parts("images", kernel.images, image, min(MOST_IMAGE_PARTS, affordable))
    if split is None:
        return kernel
    scratch = (packed, panel, aligned(split.parts * each), sums)
    return replace(kernel, split=split, tiling=replace(tiling, scratch=scratch))
