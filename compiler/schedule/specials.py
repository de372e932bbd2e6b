"""Kernels with a template of their own: the sizes that their templates print."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Node
from .lower import Memory
from .records import SpecialKernel

Numbers = tuple[tuple[str, int], ...]


def lower_special(name: str, node: Node, output: str, memory: Memory) -> SpecialKernel:
    """One special node that reads whole buffers and writes one."""
    kind = node.op.lower.kind  # type: ignore[union-attr]
    operands = tuple(
        (operand.lstrip("*"), memory(arg) or "") for operand, arg in zip(node.op.inputs, node.args, strict=True)
    )
    return SpecialKernel(
        name, kind, operands, (("out", output),), _NUMBERS[kind](node), node.op.name, str(node.origin)
    )


def lower_check(name: str, index: Node, low: int, size: int, code: int, memory: Memory) -> SpecialKernel:
    """Refuses indices outside of ``low <= index < size``."""
    numbers = (("count", index.type.size), ("low", low), ("high", size))
    operands = (("index", memory(index) or ""),)
    return SpecialKernel(name, "check", operands, (), numbers, "check", str(index.origin), code)


def _product(extents: tuple[int, ...]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total


def _along(node: Node) -> Numbers:
    """An array as (before, extent, after) around the axis."""
    shape, axis = node.args[0].type.shape, node.param("axis")
    return (
        ("before", _product(shape[:axis])),
        ("extent", shape[axis]),
        ("after", _product(shape[axis + 1 :])),
    )


def _rows(node: Node) -> Numbers:
    x, index, _ = node.args
    return (
        ("size", x.type.size),
        ("count", index.type.size),
        ("extent", x.type.shape[0]),
        ("width", _product(x.type.shape[1:])),
    )


_NUMBERS: dict[str, Callable[[Node], Numbers]] = {
    "argmax": _along,
    "argmin": _along,
    "cumsum": _along,
    "argsort": _along,
    "put": _rows,
    "index_add": _rows,
}
