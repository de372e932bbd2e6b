"""What a schedule is made of: buffers, kernels, their loops and statements. All frozen; `listing.py` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ops.types import DType, Type
from .index import Index, Variable
from .maps import Range
from .windows.sliding import Geometry

# ---------------------------------------------------------------------------------------------------------- memory


@dataclass(frozen=True)
class Buffer:
    """Named memory. `place` is "slot" (graph inputs and results, `number` counts slots) or "arena" (a byte offset), or
    "sized" (in the arena, too, at an offset that word `number` of the table of sizes tells)."""

    name: str
    type: Type
    place: str
    number: int
    written: bool


# -------------------------------------------------------------------------------------------------------- operands


@dataclass(frozen=True)
class Value:
    """A C variable of the kernel: a value that was computed, or a finished accumulator."""

    name: str
    depends: frozenset[Variable] = frozenset()


@dataclass(frozen=True)
class Literal:
    """A number, as C text."""

    text: str


@dataclass(frozen=True)
class Load:
    """An element of a buffer; outside of `ranges` it is not read and `otherwise` stands for it."""

    buffer: str
    index: Index
    ranges: tuple[Range, ...] = ()
    otherwise: str = "0"


@dataclass(frozen=True)
class Local:
    """An element of an array on the kernel's stack."""

    array: str
    index: Index


@dataclass(frozen=True)
class Counter:
    """An index as a number."""

    index: Index


@dataclass(frozen=True)
class Condition:
    """True where every range holds."""

    ranges: tuple[Range, ...]


Operand = Value | Literal | Load | Local | Counter | Condition


def variables(operand: Operand) -> frozenset[Variable]:
    """The loop variables that an operand depends on."""
    if isinstance(operand, Value):
        return operand.depends
    return frozenset[Variable]().union(*(index.variables() for index in indices(operand)))


def indices(operand: Operand) -> Iterator[Index]:
    """Every index in an operand."""
    if isinstance(operand, (Load, Local, Counter)):
        yield operand.index
    if isinstance(operand, (Load, Condition)):
        yield from (r.index for r in operand.ranges)


# ------------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Let:
    """``const T name = form``; `form` is a C expression with the operands' names in braces."""

    name: str
    ctype: str
    form: str
    operands: tuple[tuple[str, Operand], ...]
    op: str
    origin: str


@dataclass(frozen=True)
class Store:
    """``buffer[index] = value``."""

    buffer: str
    index: Index
    value: Operand


@dataclass(frozen=True)
class Keep:
    """``array[index] = value`` on the stack, for a later stage of the same row."""

    array: str
    index: Index
    value: Operand


@dataclass(frozen=True)
class Fold:
    """One step of an accumulator."""

    accumulator: Accumulator
    value: Operand


Statement = Let | Store | Keep | Fold


def operands_in(statement: Statement) -> list[Operand]:
    """What a statement reads."""
    return [operand for _, operand in statement.operands] if isinstance(statement, Let) else [statement.value]


def places_in(statement: Statement) -> Iterator[tuple[str, Index]]:
    """The buffers that a statement reads, then the one that it writes, each with the index there."""
    yield from ((operand.buffer, operand.index) for operand in operands_in(statement) if isinstance(operand, Load))
    if isinstance(statement, Store):
        yield statement.buffer, statement.index


@dataclass(frozen=True)
class Accumulator:
    """A fold: one variable, or with `index` an array with an element for each value of the inner loops.

    A maximum or minimum of floats in a vector loop compares ranks only, in the variable `name`_rank; `nan_flag`
    remembers NaN beside it.
    """

    name: str
    ctype: str
    kind: str
    init: str
    combine: str
    op: str
    origin: str
    size: int = 0
    index: Index | None = None
    nan_flag: str = ""

    @property
    def simd(self) -> bool:
        return self.kind in ("add", "mul", "or", "and") or bool(self.nan_flag) or self.ctype[0] == "i"


@dataclass(frozen=True)
class LocalArray:
    """An array on the stack that carries a row's intermediate values from one stage to the next."""

    name: str
    ctype: str
    size: int


@dataclass(frozen=True)
class Stage:
    """Loops around statements; without loops, statements in a straight line. Accumulators start before the loops."""

    loops: tuple[Variable, ...]
    body: tuple[Statement, ...]
    accumulators: tuple[Accumulator, ...] = ()


# --------------------------------------------------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Split:
    """How threads share a kernel: pieces of `axis`, one of its loops, that begin at multiples of `grain`. So many turns
    are worth handing over; `weight` tells how many times.

    With `parts` the loop adds numbers up: it is cut into so many parts, whatever the number of threads is, and their
    sums are added up in order. A piece is some of the parts then.
    """

    axis: str
    extent: int
    grain: int
    weight: int = 1
    parts: int = 0

    def __str__(self) -> str:
        pieces = f"in {self.parts} parts" if self.parts else f"by {self.grain}"
        return f"parallel {self.axis} < {self.extent} {pieces}"


@dataclass(frozen=True)
class Ahead:
    """Elements of a buffer, those from `first` to `last` of the row that begins at `index`, that are fetched into the
    cache in front of loop nest number `loop` of a turn of `row`; with `is_next` those of the next turn."""

    buffer: str
    index: Index
    row: Variable
    first: int
    last: int
    itemsize: int
    is_next: bool
    loop: int

    def __str__(self) -> str:
        when = f" at {self.row} + 1" if self.is_next else ""
        return f"before loop {self.loop} fetch {self.first} to {self.last} of {self.buffer}[{self.index}]{when}"


@dataclass(frozen=True)
class LoopKernel:
    """Loops over `outer` around `stages`, one after the other.

    `totals` are folds that go on through all rows; `last` are the stages behind the rows, which read them. Between
    the loops over a row, memory is fetched `ahead`. Of `hidden` loops the step is no number in C.
    """

    name: str
    outer: tuple[Variable, ...]
    stages: tuple[Stage, ...]
    locals: tuple[LocalArray, ...] = ()
    totals: tuple[Accumulator, ...] = ()
    last: tuple[Stage, ...] = ()
    split: Split | None = None
    ahead: tuple[Ahead, ...] = ()
    hidden: tuple[tuple[Variable, int], ...] = ()

    @property
    def all_stages(self) -> tuple[Stage, ...]:
        return (*self.stages, *self.last)

    @property
    def is_flat(self) -> bool:
        """One loop over contiguous memory, whose length can be an argument."""
        loops = [stage.loops for stage in self.stages if stage.loops]
        return not self.outer and len(self.stages) == 1 and len(loops) == 1 and len(loops[0]) == 1


@dataclass(frozen=True)
class View:
    """A buffer read as a matrix (or a batch of them): an offset and strides, in elements."""

    buffer: str
    offset: int
    batch_strides: tuple[int, ...]
    row_stride: int
    column_stride: int


@dataclass(frozen=True)
class DotKernel:
    """A matrix product; the epilogue runs for each element, with `acc` for the sum."""

    name: str
    dtype: DType
    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    a: View
    b: View
    epilogue: tuple[Statement, ...]
    op: str
    origin: str
    scratch: int | str = 0  # offset in the arena; C where it depends on sizes
    scratch_bytes: int = 0
    split: Split | None = None


@dataclass(frozen=True)
class ConvKernel:
    """A convolution ("conv") or one of its derivatives ("conv_input", "conv_weight"): a contraction of a window.

    `read` is what the kernel slides over, packed as `geometry` says; `factors` is what it is multiplied with. A group
    sums over `channels` of its own for each of `rows` results; "conv_weight" sums over images and places for each of
    `rows` results and `channels`. The epilogue runs for each element, with `acc` for the sum.
    """

    name: str
    kind: str
    dtype: DType
    shape: tuple[int, ...]
    images: int
    kernel: tuple[int, ...]
    groups: int
    rows: int
    channels: int
    geometry: Geometry
    read: str
    factors: str
    tiling: ConvTiling
    epilogue: tuple[Statement, ...]
    op: str
    origin: str
    scratch: int | str = 0  # offset in the arena; C where it depends on sizes
    split: Split | None = None

    @property
    def scratch_bytes(self) -> int:
        return sum(self.tiling.scratch)


@dataclass(frozen=True)
class ConvTiling:
    """How a convolution goes through its elements: `vectors` in a tile, rows of places (`chunk`) that are worked on at
    a time, whether all rows of results see a tile's places before the next tile does, whether its epilogue is one loop
    over all elements, and bytes of each part of the scratch memory."""

    vectors: int
    chunk: int
    rows_inside: bool
    is_flat: bool
    scratch: tuple[int, ...]


@dataclass(frozen=True)
class SpecialKernel:
    """A kernel with a template of its own: `kind` names it, `operands` are buffers, `numbers` its sizes by name.

    `loops` and `places` are there where a template walks an array with axes: its loops, and indices by name; `table`
    are numbers that it lists.
    """

    name: str
    kind: str
    operands: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, int], ...]
    op: str
    origin: str
    loops: tuple[Variable, ...] = ()
    places: tuple[tuple[str, Index], ...] = ()
    table: tuple[int, ...] = ()
    check: int = 0  # the code that it returns on failure; 0: it cannot fail


@dataclass(frozen=True)
class Address:
    """Element ``offset + t * stride`` of a buffer, in turn `t` of a loop."""

    buffer: str
    offset: int
    stride: int


@dataclass(frozen=True)
class Copy:
    """`count` elements of one buffer stored in another one from `offset` on."""

    target: str
    offset: int
    source: str
    count: int


@dataclass(frozen=True)
class RepeatKernel(SpecialKernel):
    """A loop with carried values: `copies`, then in each turn the `kernels` of its body.

    The body has `buffers` of its own: those in slots lie at `addresses` in buffers outside, the others in the buffer
    ``spare`` of the outputs.
    """

    backwards: bool = False
    copies: tuple[Copy, ...] = ()
    addresses: tuple[tuple[str, Address], ...] = ()
    buffers: tuple[Buffer, ...] = ()
    kernels: tuple[LoopKernel | DotKernel | ConvKernel | SpecialKernel, ...] = ()


Contraction = DotKernel | ConvKernel
Kernel = LoopKernel | DotKernel | ConvKernel | SpecialKernel
