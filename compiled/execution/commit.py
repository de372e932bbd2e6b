"""What a call does to Python objects after C has run: all of it, even where KeyboardInterrupt comes in between.

Python raises KeyboardInterrupt between two instructions of the interpreter; behind a C call that took long, it does so
at once. By then memory is as after the step, and gradients and versions must follow. So what is to be done is put
together before the call, and done in a way that can be begun again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ops.array import Buffer
from ...tracing.watch import changes
from .binding import Binding


class Effects:
    """Gradients that tensors get, and buffers whose versions are counted up."""

    def __init__(self, written: Iterable[Buffer], count_up: bool = False) -> None:
        self._written = iter(written)
        self._count_up = count_up  # whether guards must be looked at again
        self._gradients: list[tuple[Any, Any]] = []

    def set_gradient(self, tensor: Any, value: Any) -> None:
        """``tensor.grad = value``, without a look at whether it fits."""
        self._gradients.append((tensor, value))

    def apply(self) -> None:
        """Do it. After an interrupt it may be called once more, and does the rest."""
        for tensor, value in self._gradients:
            tensor._grad = value
        changes.count += self._count_up
        changes.grads += bool(self._gradients)
        for buffer in self._written:
            buffer.version += 1  # noqa: E701  an iterator goes on where it was: in one line


def run(binding: Binding, effects: Effects) -> None:
    """Call C, then do what follows: both, or neither if it raises."""
    binding.codes.clear()
    try:
        binding.run()
        effects.apply()
    except BaseException:
        if binding.has_run:
            effects.apply()
        raise
