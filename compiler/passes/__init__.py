"""Graph -> Graph, one file a pass, named with a verb. `simplify.py` runs them in the order of PASSES.

A pass may be given what it is known to leave as it is, and adds to it (`Graph.mapped`).
"""

from collections.abc import Callable

from ..graph import Graph, Node
from .apply_algebra import apply_algebra
from .drop_detaches import drop_detaches
from .fold_constants import fold_constants
from .merge_duplicates import merge_duplicates
from .widen_short_types import widen_short_types

Pass = Callable[[Graph, set[Node]], Graph]

PASSES: tuple[Pass, ...] = (widen_short_types, drop_detaches, fold_constants, apply_algebra, merge_duplicates)
