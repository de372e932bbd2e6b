"""Loop kernels of a schedule as records of ``loops.c.j2``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ..schedule.coalesce import LONGEST_SUM, has_sum
from ..schedule.expressions import Names, rank_names, statement_text
from ..schedule.index import Variable, of_variable, substituted
from ..schedule.records import Accumulator, Ahead, Fold, Let, LoopKernel, Split, Stage, Statement
from ..schedule.traffic import stage_indices
from .comments import sanitised
from .invariants import invariants
from .sharing import SharedRecord, shared_record, worth

#: Turns of both loops of a tile, where loops walk through memory in different orders: by elements, or by pieces, which
#: begin and end within lines of memory. Shorter pieces take longer than their memory does.
TILE, TILE_OF_PIECES = 32, 8
SHORTEST_PIECE, LONGEST_PIECE = 8, 64
#: Bytes that memory is fetched in.
LINE = 64
#: OpenMP's operator for each kind of fold.
_OPERATORS = {"add": "+", "mul": "*", "max": "max", "min": "min", "or": "|", "and": "&"}


@dataclass(frozen=True)
class Loop:
    """``for (long index = begin; index < end; step)``, with a pragma before it."""

    index: str
    end: str
    pragma: str = ""
    begin: str = "0"
    step: str = ""

    @property
    def header(self) -> str:
        step = self.step or f"++{self.index}"
        return f"for (long {self.index} = {self.begin}; {self.index} < {self.end}; {step})"


@dataclass(frozen=True)
class Array:
    """An array on the stack; with `init` every element starts as that."""

    ctype: str
    name: str
    size: int
    init: str


@dataclass(frozen=True)
class Started:
    """Folds before their first step: declarations of variables, and arrays."""

    scalars: tuple[str, ...]
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class StageRecord:
    """One loop nest: what comes and is declared before it, its headers, the lines around the innermost loop and in it,
    and what has to be put right after it."""

    started: Started
    loops: tuple[Loop, ...]
    around: tuple[str, ...]
    lines: tuple[str, ...]
    after: tuple[str, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sum:
    """A fold of all rows that is computed in parts, an array: an element of it in one part, and in the whole, which is
    `added` with that part."""

    ctype: str
    name: str
    size: int
    each: str
    element: str
    added: str


@dataclass(frozen=True)
class LoopsRecord:
    """What ``loops.c.j2`` prints; with `parts`, threads share parts of the rows, with `sums` for each."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    outer: tuple[Loop, ...]
    arrays: tuple[Array, ...]
    stages: tuple[StageRecord, ...]
    totals: Started
    last: tuple[StageRecord, ...]
    shared: SharedRecord | None
    sums: tuple[Sum, ...]
    parts: int


@dataclass(frozen=True)
class _Bounds:
    """From where to where loops run: a flat one to `extent`, the one that threads share over a part."""

    extent: str = ""
    split: Split | None = None

    def of(self, variable: Variable) -> tuple[str, str]:
        split = self.split
        if split is None or variable.name != split.axis:
            return "0", str(variable.extent)
        if split.parts:
            return f"part * {split.extent} / {split.parts}", f"(part + 1) * {split.extent} / {split.parts}"
        return "begin", "end"

    def loop(self, variable: Variable, pragma: str = "") -> Loop:
        begin, end = self.of(variable)
        return Loop(variable.name, end, pragma, begin)

    def last(self, variable: Variable, pragma: str) -> Loop:
        """The innermost loop."""
        if self.extent and self.split is None:
            return Loop(variable.name, self.extent, pragma)
        return self.loop(variable, pragma)


def loops_record(
    kernel: LoopKernel,
    names: Names,
    parameters: Sequence[str],
    name: str = "",
    comment: tuple[str, ...] = (),
    extent: str = "",
) -> LoopsRecord:
    """The record of a kernel whose buffers are called `names`; `extent` replaces the length of a flat loop, and is a
    parameter then."""
    split = kernel.split
    bounds = _Bounds(extent, split)
    totals = kernel.totals if split is not None and split.parts else ()
    return LoopsRecord(
        name=name,
        comment=comment,
        parameters=", ".join((*parameters, *([f"long {extent}"] if extent else []))),
        outer=tuple(bounds.loop(v) for v in kernel.outer),
        arrays=tuple(Array(a.ctype, a.name, a.size, "") for a in kernel.locals),
        stages=_stages(kernel, names, bounds),
        totals=_started(kernel.totals),
        last=tuple(_stage(stage, names, bounds) for stage in kernel.last),
        shared=None if split is None else _shared(split, parameters, extent or str(split.extent), totals),
        sums=tuple(_sum(a) for a in totals),
        parts=split.parts if split is not None else 0,
    )


def _shared(split: Split, parameters: Sequence[str], extent: str, totals: Sequence[Accumulator]) -> SharedRecord:
    turns = str(split.parts) if split.parts else extent
    sums = [f"{a.ctype} *restrict {a.name}_parts" for a in totals]
    return shared_record(parameters, turns, str(split.grain), worth(turns, split), shared=sums)


def _sum(total: Accumulator) -> Sum:
    each = f"{total.name}_parts[part]"
    if total.size:
        each = f"{total.name}_parts[part * {total.size} + element]"
    element = f"{total.name}[element]" if total.size else total.name
    added = total.combine.replace("{acc}", element).replace("{x}", each)
    return Sum(total.ctype, f"{total.name}_parts", total.size, each, element, added)


def _nest(stage: Stage, bounds: _Bounds) -> tuple[Loop, ...]:
    if not stage.loops:
        return ()
    *around, last = stage.loops
    turned = _turned(stage)
    if turned is not None:
        return _in_tiles(stage, (turned, last), TILE, bounds)
    pieces = _pieces(stage)
    if pieces is not None:
        return (*_in_tiles(stage, pieces, TILE_OF_PIECES, bounds), bounds.last(last, _pragma(stage)))
    innermost = _in_blocks(last, _pragma(stage)) if has_sum(stage) and last.extent > LONGEST_SUM else None
    return (*map(bounds.loop, around), *(innermost or [bounds.last(last, _pragma(stage))]))


def _folds(stage: Stage) -> bool:
    return bool(stage.accumulators) or any(isinstance(s, Fold) for s in stage.body)


def _turned(stage: Stage) -> Variable | None:
    """The loop along which some memory is contiguous, where that is not the innermost one."""
    last = stage.loops[-1]
    if _folds(stage) or last.extent < 2 * TILE:
        return None
    for index in stage_indices(stage):
        along = [v for v in stage.loops if index.coefficient(v) == 1 and v.extent >= TILE // 2]
        if along and along[0] is not last and index.coefficient(last) >= TILE // 2:
            return along[0]
    return None


def _pieces(stage: Stage) -> tuple[Variable, Variable] | None:
    """Where some memory is walked through in short pieces far from each other: the loop whose turn is the next piece in
    memory, and the one around the innermost, whose turn is not."""
    if _folds(stage) or len(stage.loops) < 3:
        return None
    *around, jumping, last = stage.loops
    if not SHORTEST_PIECE <= last.extent <= LONGEST_PIECE or jumping.extent < 2 * TILE_OF_PIECES:
        return None
    for index in stage_indices(stage):
        if index.coefficient(last) == 1 and index.coefficient(jumping) >= TILE_OF_PIECES * LONGEST_PIECE:
            for v in around:
                if index.coefficient(v) == last.extent and v.extent >= 2 * TILE_OF_PIECES:
                    return v, jumping
    return None


def _in_tiles(stage: Stage, pair: tuple[Variable, Variable], turns: int, bounds: _Bounds) -> tuple[Loop, ...]:
    """Tiles of two loops, so that the lines of memory that one turn of the inner loop touches serve the next turns."""
    last = stage.loops[-1]
    others = tuple(bounds.loop(v) for v in stage.loops if v not in (*pair, last))
    tiles = [
        _tiles(v, name, _pragma(stage) if v is last else "", turns, bounds)
        for v, name in zip(pair, ("first", "second"), strict=True)
    ]
    return (*others, *(outer for outer, _ in tiles), *(inner for _, inner in tiles))


def _tiles(variable: Variable, name: str, pragma: str, turns: int, bounds: _Bounds) -> tuple[Loop, Loop]:
    begin, total = bounds.of(variable)
    end = f"{name} + {turns}"
    if begin != "0" or variable.extent % turns:
        end = f"({end} < {total} ? {end} : {total})"
    return Loop(name, total, begin=begin, step=f"{name} += {turns}"), Loop(variable.name, end, pragma, begin=name)


def _in_blocks(variable: Variable, pragma: str) -> tuple[Loop, Loop]:
    """A long sum as a sum of short ones, which keeps more digits."""
    total = variable.extent
    block = Loop("block", str(total), step=f"block += {LONGEST_SUM}")
    end = f"(block + {LONGEST_SUM} < {total} ? block + {LONGEST_SUM} : {total})"
    return block, Loop(variable.name, end, pragma, begin="block")


def _stages(kernel: LoopKernel, names: Names, bounds: _Bounds) -> tuple[StageRecord, ...]:
    """The stages in each row; between the loop nests is what fetches memory."""
    records = [_stage(stage, names, bounds) for stage in kernel.stages]
    nests = [place for place, record in enumerate(records) if record.loops]
    declares = next((each.loop for each in kernel.ahead if each.is_next), 0)
    for loop, fetched in groupby(kernel.ahead, key=lambda each: each.loop):
        before = (*_next_row(kernel, loop == declares), *_fetching(fetched, names))
        records[nests[loop]] = replace(records[nests[loop]], before=before)
    if kernel.hidden:
        steps = sorted({step for _, step in kernel.hidden})
        declared = tuple(f"const long step{step} = tg_hidden({step});" for step in steps)
        records = [replace(r, lines=tuple(_hidden(line, kernel) for line in r.lines)) for r in records]
        records[0] = replace(records[0], before=(*declared, *records[0].before))
    return tuple(records)


def _hidden(line: str, kernel: LoopKernel) -> str:
    """A line with the steps of its loops as variables."""
    for variable, step in kernel.hidden:
        line = re.sub(rf"\b{variable} \* {step}\b", f"{variable} * step{step}", line)
    return line


def _next_row(kernel: LoopKernel, declares: bool) -> Iterator[str]:
    """C for which row is the next; behind the last one there is none."""
    row = kernel.outer[-1]
    if declares:
        yield f"const long next = {row} + 1 < {row.extent} ? {row} + 1 : {row};"


def _fetching(ahead: Iterable[Ahead], names: Names) -> Iterator[str]:
    """C that fetches memory, a line of the cache at a time."""
    for fetched in ahead:
        row, index, written = fetched.row, fetched.index, ", 1"
        if fetched.is_next:
            index, written = substituted(index, {row: of_variable(Variable("next", row.extent))}), ""
        yield f"for (long line = {fetched.first}; line < {fetched.last}; line += {LINE // fetched.itemsize})"
        yield f"    __builtin_prefetch(&{names(fetched.buffer)}[{index} + line]{written});"


def _stage(stage: Stage, names: Names, bounds: _Bounds) -> StageRecord:
    around, inside = invariants(stage)
    return StageRecord(
        started=_started(stage.accumulators),
        loops=_nest(stage, bounds),
        around=tuple(line for statement in around for line in statement_text(statement, names)),
        lines=tuple(line for statement in inside for line in statement_text(statement, names)),
        after=tuple(_ranked(a) for a in stage.accumulators if a.nan_flag),
    )


def _started(accumulators: tuple[Accumulator, ...]) -> Started:
    return Started(
        scalars=tuple(line for a in accumulators if not a.size for line in _declared(a)),
        arrays=tuple(Array(a.ctype, a.name, a.size, a.init) for a in accumulators if a.size),
    )


def _declared(accumulator: Accumulator) -> Iterator[str]:
    name, ctype = accumulator.name, accumulator.ctype
    if accumulator.nan_flag:
        names = rank_names(accumulator.kind, ctype)
        yield f"{names.type} {name}_rank = {names.of}({accumulator.init});"
        yield f"int {accumulator.nan_flag} = 0;"
    else:
        yield f"{ctype} {name} = {accumulator.init};"


def _ranked(accumulator: Accumulator) -> str:
    """The number that a finished rank stands for."""
    name, ctype = accumulator.name, accumulator.ctype
    number = rank_names(accumulator.kind, ctype).number
    return f"const {ctype} {name} = {accumulator.nan_flag} ? NAN : {number}({name}_rank);"


def _pragma(stage: Stage) -> str:
    """Iterations of the innermost loop are independent but for its folds; those that OpenMP does not know forbid it."""
    folded = [s.accumulator for s in stage.body if isinstance(s, Fold)]
    scalars = [a for a in dict.fromkeys(folded) if not a.size]
    if not all(a.simd for a in scalars):
        return ""
    clauses = [f"reduction({_OPERATORS[a.kind]} : {a.name}{'_rank' if a.nan_flag else ''})" for a in scalars]
    clauses += [f"reduction(| : {a.nan_flag})" for a in scalars if a.nan_flag]
    return " ".join(["#pragma omp simd", *clauses])


def described(kernel: LoopKernel) -> tuple[str, ...]:
    """The ops of a kernel with the user's lines that they come from, a line each; stages may have some in common."""
    lines = (line for stage in kernel.all_stages for statement in stage.body for line in describe(statement))
    return tuple(dict.fromkeys(lines))


def describe(statement: Statement) -> Iterator[str]:
    """The line about a statement that computes something."""
    if isinstance(statement, Let):
        yield line_of(statement.name, statement.op, statement.origin)
    elif isinstance(statement, Fold):
        accumulator = statement.accumulator
        yield line_of(accumulator.name, accumulator.op, accumulator.origin)


def line_of(name: str, op: str, origin: str) -> str:
    """``v1 = tanh    model.py:5``, safe inside a comment."""
    return sanitised(f"{name} = {op:<12} {origin}".rstrip())
