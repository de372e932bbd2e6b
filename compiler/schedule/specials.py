"""Kernels with a template of their own: the sizes that their templates print."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ...ops.core import Movement, Source
from ..demands import Demand
from ..graph import Node
from ..sizes.claims import below
from .index import ZERO, Variable, flattened, of_variable, strides_of
from .lower import Memory
from .records import SpecialKernel
from .windows.pooling import lower_window_argmax

Numbers = tuple[tuple[str, int], ...]
_FOLDING = ("scatter_prod", "scatter_amax", "scatter_amin")
_AT_ELEMENTS = ("scatter", "scatter_add", *_FOLDING)
_UPDATING = ("put", "index_add", *_AT_ELEMENTS)


def lower_special(name: str, node: Node, output: str, spare: str, memory: Memory) -> SpecialKernel:
    """One special node that reads whole buffers and writes one; `spare` is memory of `spare_size` numbers."""
    kind = node.op.lower.kind  # type: ignore[union-attr]
    read = operands_of(node)
    operands = tuple((r, memory(a) or "") for r, a in zip(node.op.inputs, node.args, strict=True) if a in read)
    outputs = (("out", output), *([("spare", spare)] if spare else []))
    if kind == "window_argmax":
        return lower_window_argmax(name, node, operands, outputs)
    kernel = SpecialKernel(name, kind, operands, outputs, _NUMBERS[kind](node), node.op.name, str(node.origin))
    return _with_places(kernel, node) if kind in _AT_ELEMENTS else kernel


def operands_of(node: Node) -> tuple[Node, ...]:
    """What a special kernel reads from memory: where it adds to zeros, it makes these itself."""
    return node.args[1:] if node.op.name in _UPDATING and _is_zero(node.args[0]) else node.args


def _is_zero(node: Node) -> bool:
    while isinstance(node.op.lower, Movement) and node.op.lower.view:
        node = node.args[0]
    if not isinstance(node.op.lower, Source) or node.op.lower.kind != "full":
        return False
    return node.param("value") == 0 and math.copysign(1, node.param("value")) > 0


def spare_size(node: Node) -> int:
    """How many int64 numbers a special kernel wants beside its result."""
    if node.op.name != "argsort":
        return 0
    pair = 2 if _is_wide(node) else 1
    return max(2 * pair * node.args[0].type.shape[node.param("axis")], 1)


def _with_places(kernel: SpecialKernel, node: Node) -> SpecialKernel:
    """The loops over a scatter's index, the element there, and where its line begins in the result."""
    x, index, _ = node.args
    axes = tuple(Variable(f"i{axis}", extent) for axis, extent in enumerate(index.type.shape))
    position = tuple(of_variable(v) for v in axes)
    axis = node.param("axis")
    line = (*position[:axis], ZERO, *position[axis + 1 :])
    places = (("element", flattened(position, index.type.shape)), ("line", flattened(line, x.type.shape)))
    return replace(kernel, loops=axes, places=places)


def lower_check(name: str, checked: Node, demand: Demand, code: int, memory: Memory) -> SpecialKernel:
    """Refuses indices outside of ``low <= index < size``, or divisors of 0."""
    kind = "check_divisor" if demand.axis is None else "check"
    bounds = () if demand.axis is None else (("low", demand.low), ("high", demand.size))
    numbers = (("count", checked.type.size), *bounds)
    operands = (("x", memory(checked) or ""),)
    return SpecialKernel(name, kind, operands, (), numbers, "check", str(checked.origin), check=code)


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
        ("has_nan", int(node.args[0].type.dtype.is_floating_point)),
    )


def _steps(node: Node) -> Numbers:
    x = node.args[0].type
    step = strides_of(x.shape)[node.param("axis")]
    return (("size", x.size), ("step", step), ("from_zero", int(len(operands_of(node)) < len(node.args))))


def _folding(node: Node) -> Numbers:
    options = (("include_self", int(node.param("include_self"))), ("has_nan", int(node.type.dtype.is_floating_point)))
    return (*_steps(node), *options)


def _sorting(node: Node) -> Numbers:
    wanted = node.type.shape[node.param("axis")]
    options = (("descending", int(node.param("descending"))), ("is_wide", int(_is_wide(node))))
    return (*_along(node), ("wanted", wanted), *options)


def _is_wide(node: Node) -> bool:
    """True where a key or a place takes 64 bits."""
    of = node.args[0].type
    return of.dtype.numpy.itemsize > 4 or not below(of.shape[node.param("axis")], 2**32)


def _drawing(node: Node) -> Numbers:
    return tuple((name, value) for name, value in node.params if name in ("count", "n"))


def _rejecting(node: Node) -> Numbers:
    return (("count", node.args[2].type.size),)


def _searching(node: Node) -> Numbers:
    rows, extent = node.args[0].type.shape
    return (("rows", rows), ("extent", extent), ("count", node.type.size // max(rows, 1)))


def _rows(node: Node) -> Numbers:
    x, index, _ = node.args
    return (
        ("size", x.type.size),
        ("count", index.type.size),
        ("extent", x.type.shape[0]),
        ("width", _product(x.type.shape[1:])),
        ("from_zero", int(len(operands_of(node)) < len(node.args))),
    )


def _lines(node: Node) -> Numbers:
    rows, count = node.args[0].type.shape
    return (("rows", rows), ("count", count), ("extent", node.type.shape[1]))


_NUMBERS: dict[str, Callable[[Node], Numbers]] = {
    "argmax": _along,
    "argmin": _along,
    "cumsum": _along,
    "cumsum_rounded": _along,
    "running_argmax": _along,
    "running_argmin": _along,
    "argsort": _sorting,
    "random_seed": _drawing,
    "random_words": _drawing,
    "random_poisson": _rejecting,
    "random_binomial": _rejecting,
    "random_gamma": _rejecting,
    "permutation": _drawing,
    "search": _searching,
    "search_right": _searching,
    "unpick": _lines,
    "scatter": _steps,
    "scatter_add": _steps,
    **dict.fromkeys(_FOLDING, _folding),
    "put": _rows,
    "index_add": _rows,
}
