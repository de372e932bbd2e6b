"""Loops with carried values: the body as a graph, and as a kernel that runs the body's own kernels in each turn."""

from __future__ import annotations

from typing import Any

from ...ops.core import interpreting
from ...ops.scan.loop import Loop, loop_of
from ...ops.scan.primitive import scan_primitive
from ...ops.sources import full_primitive
from ..checks import Check
from ..graph import Builder, Graph, Node, Result
from .lower import Memory
from .records import Address, Buffer, Copy, Kernel, RepeatKernel


def is_repeat(node: Node) -> bool:
    """True for a loop with carried values."""
    return node.op is scan_primitive


def body_graph(node: Node) -> Graph:
    """The body of a loop as a graph of one turn; its inputs and results are in the loop's own order."""
    body = loop_of(node.param("loop")).body
    builder = Builder(node.origin)
    inputs = tuple(builder.input(f"turn{number}", of) for number, of in enumerate(body.inputs))
    values: list[Any] = list(inputs)
    with interpreting(builder):
        for step in body.steps:
            params = dict(step.params)
            if step.primitive is full_primitive and params["shape"] == ():
                values.append(builder.constant(params["value"], params["dtype"]))
            else:
                values.append(builder.apply(step.primitive, [values[a] for a in step.args], params))
    results = tuple(Result(f"next{place}", values[number]) for place, number in enumerate(body.results))
    return Graph("turn", inputs, results)


def lower_repeat(
    name: str,
    node: Node,
    output: str,
    spare: str,
    memory: Memory,
    buffers: tuple[Buffer, ...],
    kernels: tuple[Kernel, ...],
    checks: tuple[Check, ...],
) -> RepeatKernel:
    """The kernel of a loop whose body has been scheduled as `kernels` over `buffers`; `spare` is the body's arena."""
    assert not checks, "what a body of a loop may refuse has to be checked before the loop"
    loop = loop_of(node.param("loop"))
    operands = [memory(arg) or "" for arg in node.args]
    inside = [buffer for buffer in buffers if buffer.place == "slot"]
    places = _addresses(loop, operands, output)
    return RepeatKernel(
        name=name,
        kind="scan",
        operands=tuple((f"x{number}", buffer) for number, buffer in enumerate(operands)),
        outputs=(("out", output), *([("spare", spare)] if spare else [])),
        numbers=(("turns", loop.length),),
        op=node.op.name,
        origin=str(node.origin),
        backwards=loop.backwards,
        copies=tuple(Copy(output, loop.first(k), operands[k], loop.results[k].size) for k in range(loop.carries)),
        addresses=tuple((buffer.name, places[buffer.number - 2]) for buffer in inside),
        buffers=buffers,
        kernels=kernels,
    )


def _addresses(loop: Loop, operands: list[str], output: str) -> list[Address]:
    """Where the body's inputs and results lie in each turn, in the order of its slots."""
    inputs = loop.body.inputs
    places = [Address(output, loop.before(k), inputs[k].size) for k in range(loop.carries)]
    for stream, of in zip(loop.streams, inputs[loop.carries :], strict=False):
        places.append(Address(operands[stream.operand], stream.offset, of.size))
    places += [Address(operands[operand], 0, 0) for operand in loop.constants]
    return [*places, *(Address(output, loop.after(n), of.size) for n, of in enumerate(loop.results))]
