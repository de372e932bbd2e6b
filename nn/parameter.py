"""Parameter: a tensor that a module registers and an optimizer updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.array import Array, eager
from ..serialization.saved import restorable
from ..tensors.tensor import Tensor, make


class Parameter(Tensor):
    """A leaf over the memory of `data` (nothing is copied); assigned to a module, it is one of its parameters.

    Without `data` it is empty. RuntimeError if `data` is not floating and `requires_grad` is left on.

    >>> import tracegrad as tg
    >>> tg.nn.Parameter(tg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    is_parameter = True

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if data is None:
            data = make(np.empty(0, np.float32))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter takes a Tensor, got {type(data).__name__}; make one with tracegrad.tensor(data)"
            )
        Array.__init__(self, data.ndarray, data.buffer, data.steps)
        if requires_grad:
            self.requires_grad_()

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        copied = type(self)(make(eager().peek(self).copy()), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _restored, (type(self), eager().peek(self), self.requires_grad)


restorable(Parameter)


def _restored(kind: type[Parameter], values: np.ndarray, requires_grad: bool) -> Parameter:
    return kind(make(values), requires_grad)
