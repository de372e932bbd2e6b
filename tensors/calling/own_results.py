"""Results that are views in name only: of memory that nobody else has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.types import DType
from ...tape.selected import is_picked
from ..device import device
from ..layouts.formats import layout
from ..size import Size

#: What holds no tensor. Of anything else (modules, functions, sparse tensors, dicts) it is not known.
_PLAIN = (int, float, complex, str, type(None), slice, type(...), DType, device, layout, np.generic, Size)


def own(out: Any, operands: Sequence[Any]) -> Any:
    """`out`, the result of a function: no views but of operands and of each other. What else a result shows, a product
    that was reshaped in the end, say, nobody else has: it is a tensor of its own, as what PyTorch's kernels give.

    Callers on a hot path ask before whether it is a view at all, and of the first operand, as most views are.
    """
    if not operands and isinstance(out, Array):
        _let_own(out)
        return out
    results: list[Any] = [x for x in (out if isinstance(out, tuple) else (out,)) if isinstance(x, Array)]
    # A view whose memory was written to since has another node than the one it was made with: its base knows it.
    views = [x for x in results if getattr(x, "_base", None) is not None and x.buffer.version == x._seen_version]
    if views:
        known: set[int] = set()
        if _collect(operands, known):
            shown = Counter(id(x.buffer) for x in results)
            for x in views:
                if shown[id(x.buffer)] == 1 and id(x.buffer) not in known:
                    _let_own(x)
    return out


def _let_own(x: Any) -> None:
    """Let `x` be no view, unless its memory was written to since it was made, or is that of a place that varies."""
    if getattr(x, "_base", None) is not None and x.buffer.version == x._seen_version and not is_picked(x.buffer):
        x._base = None
        x.viewed_without_grad = False


def _collect(operands: Sequence[Any], buffers: set[int]) -> bool:
    """Add the memory of all tensors among `operands` to `buffers`; False if that is not known of one."""
    for operand in operands:
        if isinstance(operand, Array):
            buffers.add(id(operand.buffer))
        elif type(operand) in (list, tuple):
            if not _collect(operand, buffers):
                return False
        elif not isinstance(operand, _PLAIN):
            return False
    return True
