"""Graph -> Graph, one file a pass, named with a verb. `simplify.py` runs them in the order of PASSES."""

from collections.abc import Callable

from ..graph import Graph
from .apply_algebra import apply_algebra
from .drop_detaches import drop_detaches
from .fold_constants import fold_constants
from .merge_duplicates import merge_duplicates

PASSES: tuple[Callable[[Graph], Graph], ...] = (drop_detaches, fold_constants, apply_algebra, merge_duplicates)
