"""When two graphs are the same but for what computes nothing. Apart from planning, which needs all stages."""

from __future__ import annotations

from ..graph import Graph
from ..passes.simplify import simplify
from ..schedule.prepare import without_empty_folds


def simplest(graph: Graph) -> Graph:
    """A graph without what computes nothing. A recording for one row has no broadcasts and no sums over rows."""
    return simplify(without_empty_folds(simplify(graph)))
