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
from .spatial import convolution, pooling

__all__ = [
    "arithmetic",
    "comparison",
    "convolution",
    "division",
    "elementary",
    "identity",
    "indexing",
    "logic",
    "movement",
    "pooling",
    "products",
    "random",
    "reductions",
    "rounding",
    "scans",
    "sources",
    "trigonometry",
    "windows",
]
