"""The primitive of a loop, and its derivative: the loop back and what is made of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import Kernel, bind, current, define, interpreting
from ..movement import reshape, transpose, update_slice
from ..products import dot
from ..reductions import sum
from ..sources import zeros
from ..types import Type
from .body import Tracer, Value, finished, needed
from .loop import Loop, Stream, evaluate, last_of, loop_of, loop_type, part, stack_of
from .reverse import Reverse, Source, Stacked, Term, reverse_of


def pull_back_loop(
    loop: Loop, xs: Sequence[Any], out: Any, given: Sequence[Any], wanted: tuple[bool, ...]
) -> list[Any]:
    """The cotangents of the operands that are `wanted`, None where nothing comes back.

    `given` are the cotangents of all stacked results, then of the last carried values; None where there is none.
    """
    reverse = reverse_of(loop, tuple(g is not None for g in given), wanted)
    invariant = reverse.prelude.run([xs[operand] for operand in reverse.fixed])
    operands = [_operand(source, loop, xs, out, given, invariant) for source in reverse.operands]
    back = apply_loop(reverse.loop, operands)
    found: list[list[Any]] = [[] for _ in xs]
    for k in range(loop.carries):
        found[k].append(last_of(reverse.loop, back, k))
    for stream, number in zip(loop.streams, reverse.streams, strict=True):
        if number is not None:
            found[stream.operand].append(_of_stream(stream, stack_of(reverse.loop, back, number), xs[stream.operand]))
    for operand, terms in zip(loop.constants, reverse.constants, strict=True):
        if wanted[operand]:
            found[operand] += [_made(term, reverse, operands, back) for term in terms]
    return [_total(terms) if want else None for terms, want in zip(found, wanted, strict=True)]


def _operand(
    source: Source, loop: Loop, xs: Sequence[Any], out: Any, given: Sequence[Any], invariant: Sequence[Any]
) -> Any:
    if source.of == "out":
        return out
    if source.of == "zeros":
        return zeros(loop.results[source.key])
    return {"operand": xs, "given": given, "invariant": invariant}[source.of][source.key]


def _total(terms: Sequence[Any]) -> Any:
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def _of_stream(stream: Stream, stacked: Any, operand: Any) -> Any:
    """The cotangent of the operand that a stream is read from: zeros where it does not read."""
    of, own = current().type_of(operand), current().type_of(stacked)
    if of.size == own.size:
        return reshape(stacked, of.shape)
    row = reshape(stacked, (own.size,))
    return reshape(update_slice(zeros(Type(of.dtype, (of.size,))), row, (stream.offset,), (1,)), of.shape)


def _made(term: Term, reverse: Reverse, operands: Sequence[Any], back: Any) -> Any:
    """A part of a constant's cotangent."""
    if term.inner is not None:
        inner = _made(term.inner, reverse, operands, back)
        return reshape(inner, term.axes) if term.kind == "reshape" else transpose(inner, term.axes)
    stacks = [_stacked(stacked, reverse, operands, back) for stacked in term.stacks]
    if term.kind == "sum":
        return sum(stacks[0], term.axes)
    left, right = (_over_time(*pair) for pair in zip(stacks, term.swapped, (True, False), strict=True))
    return dot(transpose(left, (1, 0)), right)


def _over_time(stack: Any, swapped: bool, is_left: bool) -> Any:
    """``[length, ...]`` as a matrix with all turns' inner axes one below the other."""
    if swapped is not is_left:
        stack = transpose(stack, (0, 2, 1))
    length, inner, outer = current().type_of(stack).shape
    return reshape(stack, (length * inner, outer))


def _stacked(stacked: Stacked, reverse: Reverse, operands: Sequence[Any], back: Any) -> Any:
    loop = reverse.loop
    if stacked.of == "result":
        return stack_of(loop, back, stacked.key)
    stream = loop.streams[stacked.key]
    return part(operands[stream.operand], stream.offset, (loop.length, *stacked.type.shape))


def _rule(g: Any, out: Any, xs: Sequence[Any], positions: tuple[int, ...], loop: str) -> list[Any]:
    """The cotangents of the operands at `positions`, for one of the whole row of numbers."""
    made = loop_of(loop)
    given = [*(stack_of(made, g, n) for n in range(len(made.results))), *[None] * made.carries]
    found = pull_back_loop(made, xs, out, given, tuple(i in positions for i in range(len(xs))))
    for k in range(made.carries):
        if found[k] is not None:
            found[k] = found[k] + part(g, made.first(k), made.results[k].shape)
    return [zeros(current().type_of(xs[i])) if found[i] is None else found[i] for i in positions]


scan_primitive = define(
    "scan",
    ("*xs",),
    type=loop_type,
    eval=evaluate,
    lower=Kernel("scan"),
    vjp={"xs": _rule},
    joint=True,
)


def apply_loop(loop: Loop, operands: Sequence[Any]) -> Any:
    """A loop's value: the row of numbers with all histories and stacked results."""
    return bind(scan_primitive, *operands, loop=loop.text)


# ------------------------------------------------------------------------------------------------- making loops


Body = Callable[[list[Any], list[Any], list[Any]], tuple[list[Any], list[Any]]]


def traced(
    body: Body,
    length: int,
    initial: Sequence[Type],
    slices: Sequence[Type],
    constants: Sequence[Type],
    saved: bool,
    backwards: bool,
) -> tuple[Loop, int]:
    """The loop that runs `body`, and how many results it stacks that are the body's own.

    ``body(carries, slices, constants)`` gives the new carried values and what to stack. The loop's operands come in
    this order, too; those that it slices have the numbers of all slices in a row. With `saved` what the loop's
    derivative will ask for is stacked behind the body's own results.
    """
    tracer = Tracer()
    inputs = [Value(of) for of in (*initial, *slices, *constants)]
    first, last = len(initial), len(initial) + len(slices)
    with interpreting(tracer):
        carried, ys = body(inputs[:first], inputs[first:last], inputs[last:])
    results = [*carried, *ys]
    if saved:
        results += _asked_for(inputs, results, first)
    streams = tuple(Stream(operand) for operand in range(first, last))
    operands = tuple(range(last, len(inputs)))
    made = Loop(finished(inputs, results), length, first, streams, operands, backwards)
    return made, len(ys)


def _asked_for(inputs: Sequence[Value], results: Sequence[Value], carries: int) -> list[Value]:
    """The values in between that derivative rules name, but for what is cheaply made of others."""
    order = needed(results, inputs)
    known = {*inputs, *results}
    asked: dict[Value, None] = {}
    for value in order:
        assert value.op is not None
        for position in range(len(value.args)):
            rule = value.op.derivative(position)
            for name in () if rule is None else rule.needs:
                if name == "out":
                    asked[value] = None
                elif name in value.op.inputs:
                    asked[value.args[value.op.inputs.index(name)]] = None
    dtype = results[0].type.dtype
    return [v for v in asked if v not in known and v.args and v.type.dtype is dtype and not _is_movement(v)]


def _is_movement(value: Value) -> bool:
    return value.op is not None and value.op.name in ("reshape", "transpose", "slice", "broadcast")
