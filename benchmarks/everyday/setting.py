"""What a pattern is written with: a library, its sizes and data, and what of it is compiled."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

BATCHES = 8


@dataclass(frozen=True)
class Sizes:
    """The model, the batch, and after how many calls something happens that does not happen at each call."""

    rows: int = 64
    features: int = 64
    hidden: tuple[int, int] = (128, 64)
    classes: int = 10
    seldom: int = 50


@dataclass
class Setting:
    """`whole` wraps the function that a pattern's loop calls, `part` a function which that one calls again and again:
    one of them is ``tracegrad.compile``, or both do nothing."""

    library: ModuleType
    sizes: Sizes = field(default_factory=Sizes)
    whole: Callable[[Any], Any] = lambda function: function
    part: Callable[[Any], Any] = lambda function: function

    def __post_init__(self) -> None:
        self.library.manual_seed(0)
        random.seed(0)
        np.random.seed(0)

    @property
    def names(self) -> tuple[Any, Any, Any]:
        """What programs call `torch`, `nn` and `F`."""
        return self.library, self.library.nn, self.library.nn.functional

    def mlp(self, inputs: int = 0, outputs: int = 0) -> Any:
        """Linear, ReLU, Linear, ReLU, Linear."""
        nn, (first, second) = self.library.nn, self.sizes.hidden
        return nn.Sequential(
            nn.Linear(inputs or self.sizes.features, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(),
            nn.Linear(second, outputs or self.sizes.classes),
        )  # fmt: skip

    def adam(self, *models: Any, **options: Any) -> Any:
        """Adam for the parameters of `models`."""
        return self.library.optim.Adam([p for model in models for p in model.parameters()], **options)

    def model_and_adam(self) -> tuple[Any, Any]:
        """The model and the optimizer that most patterns train."""
        model = self.mlp()
        return model, self.adam(model)

    def arrays(self, count: int = BATCHES) -> list[tuple[np.ndarray, np.ndarray]]:
        """Features and classes of `count` batches."""
        rng, sizes = np.random.default_rng(0), self.sizes
        shape, classes = (sizes.rows, sizes.features), sizes.classes
        return [
            (rng.standard_normal(shape).astype(np.float32), rng.integers(0, classes, sizes.rows)) for _ in range(count)
        ]

    def batches(self, count: int = BATCHES) -> list[tuple[Any, Any]]:
        """The same as tensors."""
        return [(self.library.tensor(x), self.library.tensor(y)) for x, y in self.arrays(count)]


@dataclass
class Run:
    """A pattern, ready to be called: ``call(i)`` makes call number `i`.

    `tensors()` are what is trained, `kept` the Python objects in which the calls leave their numbers; one call does
    `steps` training steps.
    """

    call: Callable[[int], Any]
    tensors: Callable[[], Any]
    kept: Any = ()
    steps: int = 1


@dataclass(frozen=True)
class Pattern:
    """A way to write a training step. With `has_part` there is a function inside that could be compiled instead."""

    title: str
    make: Callable[[Setting], Run]
    has_part: bool = False

    @property
    def name(self) -> str:
        """What `--only` looks for."""
        return self.make.__name__


PATTERNS: list[Pattern] = []


def pattern(title: str, has_part: bool = False) -> Callable[[Callable[[Setting], Run]], Callable[[Setting], Run]]:
    """Put a maker of runs into the list of patterns."""

    def listed(make: Callable[[Setting], Run]) -> Callable[[Setting], Run]:
        PATTERNS.append(Pattern(title, make, has_part))
        return make

    return listed


def parameters(*models: Any) -> Callable[[], list[Any]]:
    """`Run.tensors` of models: parameters and buffers."""
    return lambda: [tensor for model in models for tensor in model.state_dict().values()]
