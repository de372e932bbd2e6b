"""What can be computed: every primitive, defined once with its type, its numpy evaluation, its derivative and its C.

Importing the families fills the registry, so that a graph's text can be read back whoever asks first.
"""

from . import (
    arithmetic,
    comparison,
    division,
    elementary,
    identity,
    indexing,
    logic,
    movement,
    products,
    random,
    reductions,
    rounding,
    scans,
    sources,
    trigonometry,
    windows,
)
from .elementwise import real, special
from .places import diagonals, folding, searching, strided
from .sampling import rejection
from .spatial import convolution, pooling

__all__ = [
    "arithmetic",
    "comparison",
    "convolution",
    "diagonals",
    "division",
    "elementary",
    "folding",
    "identity",
    "indexing",
    "logic",
    "movement",
    "pooling",
    "products",
    "random",
    "real",
    "reductions",
    "rejection",
    "rounding",
    "scans",
    "searching",
    "sources",
    "special",
    "strided",
    "trigonometry",
    "windows",
]
