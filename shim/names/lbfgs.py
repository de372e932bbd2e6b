"""Names of ``torch.optim.lbfgs`` that programs build optimizers of their own from: its line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.array import within_errstate
from ...optim import line_search
from ...tensors.tensor import Tensor

__all__ = ["_cubic_interpolate", "_strong_wolfe"]


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Where the cubic through two points with their slopes is least, between the points or within `bounds`."""
    least, most = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    total = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = total**2 - g1 * g2
    if not square >= 0:
        return (least + most) / 2.0
    root = square**0.5
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + root - total) / (g2 - g1 + 2 * root))
    else:
        found = x1 - (x1 - x2) * ((g1 + root - total) / (g1 - g2 + 2 * root))
    return min(max(found, least), most)


def _strong_wolfe(
    obj_func: Callable[..., Any],
    x: Any,
    t: Any,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = line_search.DECREASE,
    c2: float = line_search.SLOPE,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """``(loss, gradient, length, evaluations)`` of a step along `d` for which the strong Wolfe conditions hold.

    ``obj_func(x, length, d)`` is the loss and its gradient. NotImplementedError for other constants than 1e-4 and 0.9.
    """
    if (c1, c2) != (line_search.DECREASE, line_search.SLOPE):
        raise NotImplementedError("_strong_wolfe(): c1 is 1e-4 and c2 is 0.9 in tracegrad.")
    count = 0

    def evaluate(length: Any) -> line_search.Point:
        nonlocal count
        count += 1
        loss, gradient = obj_func(x, length, d)
        return line_search.Point(length, loss, gradient, gradient.dot(d).item())

    start = line_search.Point(0, f, g.clone(), float(gtd))
    given = evaluate, start, float(t), np.asarray(d.detach()), tolerance_change, max_ls
    found = within_errstate(line_search.strong_wolfe, *given)
    return found.loss, found.gradient, found.t, count
