"""Loops over tensors: `ops.scan` with a node of the tape whose outputs are the loop's results."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...ops.array import by_columns
from ...ops.core import current
from ...ops.identity import copy
from ...ops.products import transposed
from ...ops.scan.loop import Loop, last_of, stack_of
from ...ops.scan.primitive import Body, apply_loop, pull_back_loop, scan_primitive, traced
from ...ops.types import Type
from ...tape.needs import needs_of
from ...tape.nodes import JointNode
from ...tape.saved import saved
from ...tape.tangents import is_differentiated
from ...tensors.tensor import Tensor


class Scanned(NamedTuple):
    """``[length, ...]`` of each carried value after each turn; what they are after the last; what the body stacks."""

    carried: list[Any]
    last: list[Any]
    stacked: list[Any]


class LoopNode(JointNode):
    """A loop on the tape. Its outputs are all stacked results, then the last carried values."""

    def __init__(self, loop: Loop, operands: Sequence[Any], flat: Any) -> None:
        on = tuple(i for i, operand in enumerate(operands) if operand.requires_grad)
        self.fill(scan_primitive, operands, {"loop": loop.text}, flat, on, needs_of(scan_primitive, on))
        self.rename(scan_primitive.backward_name)
        self.loop = loop
        self.outputs = len(loop.results) + loop.carries
        self.known = {**self.known, "out": saved(flat, is_output=False)}  # which is none of the outputs
        self.origin = flat.grad_fn.origin
        self.turned = [by_columns(operand.ndarray) for operand in operands]

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        known = self.unpacked()
        found = pull_back_loop(self.loop, known["xs"], known["out"], cotangents, tuple(wanted))
        return [_as_it_lies(g) if turned and g is not None else g for g, turned in zip(found, self.turned, strict=True)]


def _as_it_lies(g: Any) -> Any:
    """The gradient of a matrix that lies by columns, as that does."""
    return transposed(copy(transposed(g)))


_traced = functools.lru_cache(maxsize=256)(traced)


def scan(
    body: Body,
    length: int,
    initial: Sequence[Any],
    streams: Sequence[Any],
    constants: Sequence[Any],
    backwards: bool = False,
) -> Scanned:
    """``carries, ys = body(carries, [s[t] for s in streams], constants)`` for each `t`, from the end if `backwards`.

    A stream ``[length * rows, ...]`` is read in slices ``[rows, ...]``. `body` is a function of primitives alone,
    without variables of its own: what it makes is remembered by the function and the types. All results have the
    element type of the carried values.
    """
    operands = [*initial, *streams, *constants]
    has_gradients = any(is_differentiated(o) for o in operands)
    types = [tuple(map(current().type_of, group)) for group in (initial, streams, constants)]
    types[1] = tuple(Type(of.dtype, (of.shape[0] // length, *of.shape[1:])) for of in types[1])
    loop, count = _traced(body, length, *types, has_gradients, backwards)
    flat = apply_loop(loop, operands)
    shown = range(loop.carries + count)
    # Copies: whoever writes to a result does not write to what the derivative needs. In a graph they cost nothing.
    stacks = [copy(stack_of(loop, flat, number)) for number in shown]
    last = [copy(last_of(loop, flat, number)) for number in range(loop.carries)]
    if isinstance(flat, Tensor) and flat.grad_fn is not None:
        node = LoopNode(loop, operands, flat)
        for number, part in [*zip(shown, stacks, strict=True), *enumerate(last, len(loop.results))]:
            part.attach(node, number)
    return Scanned(stacks[: loop.carries], last, stacks[loop.carries :])
