"""Windows added up at their places, by blocks of a step.

A place lies in few windows, those that begin in the steps before it; a sum over all places of the kernel asks of each
whether a window has it there. Where a kernel's axis is cut into blocks of the step, its n-th block lands n blocks
behind the window's begin whatever the place in it is: what is left to add up are as many blocks as windows overlap, in
the order of before.
"""

from __future__ import annotations

from itertools import chain
from math import prod

from ....ops.core import interpreting
from ....ops.movement import pad, reshape, slice, transpose
from ....ops.reductions import sum as sum_of
from ....ops.reductions import sum_primitive
from ....ops.windows import spread, spread_primitive
from ...graph import Builder, Graph, Node
from ...sizes.standins import is_size

Shape = tuple[int, ...]


def by_blocks(graph: Graph) -> Graph:
    """`graph` with such sums written so; every value stays what it is."""
    added = {node: _added(node) for node in graph.nodes() if _is_wasteful(node)}
    return graph.rewritten(added) if added else graph


def _is_wasteful(node: Node) -> bool:
    """True for sums of windows over all places of their kernel that step over several places."""
    if node.op is not sum_primitive or node.args[0].op is not spread_primitive:
        return False
    back = node.args[0]
    steps, batch, kernel = _sizes(back)
    if node.param("axes") != tuple(range(batch, batch + len(steps))) or set(back.param("gaps")) != {1}:
        return False
    if any(map(is_size, (*kernel, *back.args[0].type.shape[batch:], *back.param("extents")))) or not back.type.size:
        return False
    return prod(_blocks(kernel, steps)) < prod(kernel)


def _sizes(back: Node) -> tuple[Shape, int, Shape]:
    """The steps of windows, how many axes come before those of the kernel, and these."""
    steps, shape = back.param("steps"), back.args[0].type.shape
    batch = len(shape) - 2 * len(steps)
    return steps, batch, shape[batch : batch + len(steps)]


def _blocks(kernel: Shape, steps: Shape) -> Shape:
    return tuple(-(-k // step) for k, step in zip(kernel, steps, strict=True))


def _added(node: Node) -> Node:
    (back,) = node.args
    (x,) = back.args
    steps, batch, kernel = _sizes(back)
    axes, outer, windows = len(steps), x.type.shape[:batch], x.type.shape[batch + len(steps) :]
    blocks = _blocks(kernel, steps)
    low, extents = back.param("low"), back.param("extents")
    reach = [
        max(count + n - 1, -(-(before + extent) // step))
        for count, n, before, extent, step in zip(windows, blocks, low, extents, steps, strict=True)
    ]
    rest = [n * step - k for n, step, k in zip(blocks, steps, kernel, strict=True)]
    with interpreting(Builder(node.origin)):
        whole = pad(x, (0,) * x.type.ndim, (*(0,) * batch, *rest, *(0,) * axes)) if any(rest) else x
        cut = reshape(whole, (*outer, *chain(*zip(blocks, steps, strict=True)), *windows))
        first, second = (tuple(range(batch + n, batch + 2 * axes, 2)) for n in (0, 1))
        turned = transpose(cut, (*range(batch), *second, *first, *range(batch + 2 * axes, batch + 3 * axes)))
        moved = spread(turned, tuple(reach), (1,) * axes, (1,) * axes, (0,) * axes)
        added = sum_of(moved, tuple(range(batch + axes, batch + 2 * axes)))  # [*outer, *steps, *reach]
        added = added if max(blocks) > 1 else added + 0  # a sum that begins with 0 is never -0
        pairs = chain(*((batch + axes + a, batch + a) for a in range(axes)))
        places = tuple(n * step for n, step in zip(reach, steps, strict=True))
        flat = reshape(transpose(added, (*range(batch), *pairs)), (*outer, *places))
        begin = (*(0,) * batch, *low)
        end = (*outer, *(before + extent for before, extent in zip(low, extents, strict=True)))
        return flat if flat.type == node.type else slice(flat, begin, end, (1,) * len(begin))
