"""How often has been rebound what guards look at."""

from __future__ import annotations

from typing import Any


class Changes:
    """Counts rebindings of anything that guards look at, in any thread: `grads` those of ``.grad``, `options` those of
    options and state of optimizers, `modules` those of options of modules, `training` those of their mode, `memories`
    tensors that are given other memory of the same layout (``.data = ...``), `count` the rest. They only grow, so who
    looks at several compares their sum: models look at no gradients, no options of optimizers, many not at the mode."""

    __slots__ = ("count", "grads", "memories", "modules", "options", "training")

    def __init__(self) -> None:
        self.count = self.grads = self.memories = self.modules = self.options = self.training = 0

    def count_memory(self, before: Any, after: Any) -> None:
        """A tensor that has shown the array `before` (None: in another way than as it is) shows `after` now."""
        is_alike = before is not None and len({(a.shape, a.strides, a.dtype) for a in (before, after)}) == 1
        self.memories += is_alike
        self.count += not is_alike


changes = Changes()
