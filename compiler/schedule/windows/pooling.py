"""Where maxima of windows stand: the numbers of its two templates."""

from __future__ import annotations

from itertools import product
from math import prod

from ...graph import Node
from ...sizes.standins import NotSized, is_size
from ..records import SpecialKernel
from .sliding import AXES

Buffers = tuple[tuple[str, str], ...]

#: Places of a window that are written out one after the other.
MOST_PLACES = 16
#: Windows of a row whose maxima are kept on the stack at a time.
LONGEST_BLOCK = 256


def lower_window_argmax(name: str, node: Node, operands: Buffers, outputs: Buffers) -> SpecialKernel:
    """Windows of few places, all inside of the array, have their places in a table (`window_argmax_small`). NotSized
    where the space depends on a size."""
    x = node.args[0].type
    if any(map(is_size, (*x.shape[x.ndim - len(node.param("kernel")) :], *node.param("extents")))):
        raise NotSized("windows over a space that depends on a size")
    params = [node.param(word) for word in ("kernel", "extents", "steps", "gaps", "low")]
    axes = len(params[0])
    space, missing = x.shape[x.ndim - axes :], AXES - axes
    extents, kernel, counts, steps, gaps = ((*(1,) * missing, *of) for of in (space, *params[:4]))
    low = (*(0,) * missing, *params[4])
    last = [
        (count - 1) * step + (k - 1) * gap - b
        for count, step, k, gap, b in zip(counts, steps, kernel, gaps, low, strict=True)
    ]
    padded = [b > 0 or n >= extent for b, n, extent in zip(low, last, extents, strict=True)]
    numbers: dict[str, int] = {"rows": prod(x.shape[: x.ndim - axes]), "has_nan": int(x.dtype.is_floating_point)}
    named = {"extent": extents, "kernel": kernel, "count": counts, "step": steps, "gap": gaps, "low": low}
    named |= {"padded": tuple(map(int, padded))}
    named |= {"last_gap": tuple(gap - 1 for gap in gaps)}
    for word, values in named.items():
        numbers |= {f"{word}_{axis}": value for axis, value in zip("zyx", values, strict=True)}
    numbers |= {"space": prod(space), "block": min(counts[2], LONGEST_BLOCK), "blocks": int(counts[2] > LONGEST_BLOCK)}
    numbers |= {"jump_z": steps[0] * extents[1], "last_step": steps[2] - 1, "last_place": extents[2] - 1}
    is_small = not any(padded) and prod(kernel) <= MOST_PLACES
    taps = [_place(tap, gaps, extents) for tap in product(*map(range, kernel))] if is_small else []
    kind = "window_argmax_small" if is_small else "window_argmax"
    return SpecialKernel(
        name, kind, operands, outputs, tuple(numbers.items()), node.op.name, str(node.origin), table=tuple(taps[1:])
    )


def _place(tap: tuple[int, ...], gaps: tuple[int, ...], extents: tuple[int, ...]) -> int:
    """How many places behind a window's first one lies the one at `tap`."""
    flat = 0
    for k, gap, extent in zip(tap, gaps, extents, strict=True):
        flat = flat * extent + k * gap
    return flat
