"""A slice that begins at a number which is another one at each call: its elements are picked.

While a function is recorded, a number may be a stand-in (``compiled/symbolic/number.py``). Where a slice begins is
then an input of the graph: the rows from there on are picked, which is a copy. For the call that is recorded it shows
the memory of the tensor all the same (`selected.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import movement
from ..ops.indexing import take
from ..ops.sources import iota
from ..ops.types import int64
from ..tape.selected import note_picked


def window(x: Any, axis: int, start: Any, first: int, length: int, step: int, otherwise: Callable[[], None]) -> Any:
    """``x[start : start + length * step : step]`` along `axis`, which lies inside x. `start` is now `first`.

    `otherwise` is called where the program tells a view from a copy.
    """
    rest = [a for a in range(x.ndarray.ndim) if a != axis]
    # A slice's gradient lies row by row, that of turned rows would lie as they do.
    rows = movement.transpose(movement.by_rows(x), (axis, *rest)) if axis else x
    index = iota((length,), 0, int64)
    if step != 1:
        index = index * step
    taken = take(rows, index + start)
    note_picked(rows, taken, (slice(first, first + length * step, step),), otherwise)
    return movement.transpose(taken, (*range(1, axis + 1), 0, *range(axis + 1, len(rest) + 1))) if axis else taken
