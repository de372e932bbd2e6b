"""A small model and its training step, in either library. No word of PyTorch: a compiled function reaches all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def waves(library: Any, shape: tuple[int, ...], turn: float, dtype: str) -> Any:
    """Numbers of a sine; of complex types, of two."""
    angle = np.arange(int(np.prod(shape))) * 1.7 + turn
    array = np.sin(angle) + (1j * np.cos(1.3 * angle) if dtype.startswith("complex") else 0.0)
    return library.from_numpy(array.reshape(shape)).to(getattr(library, dtype))


class Problem:
    """Parameters, a loss of them and a step: dense gradients, or sparse ones of an embedding's rows."""

    def __init__(self, library: Any, dtype: str = "float64", sparse: bool = False, matrices: bool = False) -> None:
        self.library, self.sparse, self.dtype = library, sparse, dtype
        shapes: tuple[tuple[int, ...], ...] = ((5, 3), (5,), (2, 5))
        if sparse:
            shapes = ((6, 3),)
        elif matrices:  # Muon takes nothing else
            shapes = ((5, 3), (2, 5))
        self.parameters = [library.nn.Parameter(waves(library, s, i, dtype)) for i, s in enumerate(shapes)]
        self.x, self.y = waves(library, (4, 3), 0.3, dtype), waves(library, (4, 2), 1.1, dtype)
        self.rows = library.tensor([[0, 2], [2, 5]])

    def loss(self, x: Any, y: Any) -> Any:
        functional = self.library.nn.functional
        if self.sparse:
            found = functional.embedding(self.rows, self.parameters[0], sparse=True)
            return (found * found * 0.5 + found * x[:2, None]).sum()
        first, *bias, second = self.parameters
        difference = functional.linear(self.library.tanh(functional.linear(x, first, *bias)), second) - y
        return (
            (difference * difference.conj()).real.mean()
            if self.dtype.startswith("complex")
            else (difference * difference).mean()
        )

    def groups(self) -> list[dict[str, Any]]:
        """The last parameter at a rate of its own."""
        return [{"params": self.parameters[:-1]}, {"params": self.parameters[-1:], "lr": 0.02}]


def step_of(problem: Problem, optimizer: Any, closure: bool) -> Callable[..., Any]:
    """One step of training, ``step(x, y)``, that gives the loss."""

    def step(x: Any, y: Any) -> Any:
        def evaluated() -> Any:
            optimizer.zero_grad()
            loss = problem.loss(x, y)
            loss.backward()
            return loss

        if closure:
            return optimizer.step(evaluated).detach()
        loss = evaluated().detach()
        optimizer.step()
        return loss

    return step
