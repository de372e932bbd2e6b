"""A line search for the strong Wolfe conditions (Nocedal & Wright 2006, chapter 3.5), with PyTorch's safeguards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DECREASE, SLOPE = 1e-4, 0.9  # the constants of the two conditions


class Point(NamedTuple):
    """Where a step of length `t` leads: the loss there, its gradient, and its slope along the line."""

    t: Any
    loss: Any
    gradient: np.ndarray
    slope: Any


Evaluate = Callable[[Any], Point]


def strong_wolfe(
    evaluate: Evaluate, start: Point, t: Any, direction: np.ndarray, tolerance: float, limit: int
) -> Point:
    """A point that satisfies the conditions, or the best one of `limit` more evaluations."""
    first = evaluate(np.float64(t))
    bracket, used = _bracket(evaluate, start, first, limit)
    if len(bracket) == 1:
        return bracket[0]
    least = tolerance / np.float64(np.abs(direction).max())  # a step in parameters of `tolerance`
    return _zoom(evaluate, start, bracket, least, limit - used)


def _falls(point: Point, start: Point) -> bool:
    return not point.loss > start.loss + DECREASE * point.t * start.slope


def _is_flat(point: Point, start: Point) -> bool:
    return bool(abs(point.slope) <= -SLOPE * start.slope)


def _bracket(evaluate: Evaluate, start: Point, point: Point, limit: int) -> tuple[list[Point], int]:
    """One point that satisfies the conditions or two around one, and how many evaluations were made."""
    before = start
    for turn in range(limit):
        if not _falls(point, start) or (turn > 1 and point.loss >= before.loss):
            return [before, point], turn
        if _is_flat(point, start):
            return [point], turn
        if point.slope >= 0:
            return [before, point], turn
        bounds = point.t + 0.01 * (point.t - before.t), point.t * 10
        before, point = point, evaluate(_minimum_between(before, point, *bounds))
    return [start, point], limit


def _minimum_between(one: Point, other: Point, least: Any, most: Any) -> Any:
    """Where the cubic through two points with their slopes is least, within bounds."""
    left, right = (one, other) if one.t <= other.t else (other, one)
    total = np.float64(one.slope + other.slope - 3 * (one.loss - other.loss) / np.float64(one.t - other.t))
    square = total**2 - one.slope * other.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = np.sqrt(square)
    found = right.t - (right.t - left.t) * ((right.slope + root - total) / (right.slope - left.slope + 2 * root))
    return min(max(found, least), most)


def _zoom(evaluate: Evaluate, start: Point, bracket: list[Point], width: Any, limit: int) -> Point:
    """Make the bracket smaller until its lower end satisfies the conditions, or it is narrower than `width`."""
    low, high = _by_loss(bracket)
    stuck = False
    for _ in range(limit):
        least, most = sorted((bracket[0].t, bracket[1].t))
        if most - least < width:
            break
        t, stuck = _away_from_ends(_minimum_between(bracket[0], bracket[1], least, most), least, most, stuck)
        point = evaluate(t)
        if not _falls(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = _by_loss(bracket)
            continue
        flat = _is_flat(point, start)
        if not flat and point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if flat:
            break
    return bracket[low]


def _by_loss(bracket: list[Point]) -> tuple[int, int]:
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _away_from_ends(t: Any, least: Any, most: Any, stuck: bool) -> tuple[Any, bool]:
    """`t`, or a tenth of the bracket away from an end that it is close to for the second time or lies on."""
    margin = 0.1 * (most - least)
    if not min(most - t, t - least) < margin:
        return t, False
    if not (stuck or t >= most or t <= least):
        return t, True
    return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
