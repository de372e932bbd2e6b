"""Parameter: a tensor that a module registers and an optimizer updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.array import Array, eager
from ..serialization.saved import restorable
from ..tensors.blank import blank
from ..tensors.operands import add_plain
from ..tensors.overriding import disabled_torch_function
from ..tensors.tensor import Tensor, make


class _ParameterMeta(type):
    """Counts tensors of other classes that ``Parameter(tensor)`` has made parameters."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and instance.is_parameter


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf over the memory of `data` (nothing is copied); assigned to a module, it is one of its parameters.

    Without `data` it is empty. A tensor of a subclass gives a parameter of its own class, which counts as one.
    RuntimeError if `data` is not floating and `requires_grad` is left on.

    >>> import tracegrad as tg
    >>> tg.nn.Parameter(tg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    is_parameter = True
    __torch_function__: Any = disabled_torch_function

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if isinstance(data, Tensor) and type(data) is not Tensor and not issubclass(type(data), Parameter):
            return _of_its_own_class(data, requires_grad)
        return blank(cls)

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


def _of_its_own_class(data: Any, requires_grad: bool) -> Any:
    """A parameter of the subclass that `data` is of."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(made).__name__} was found instead. To use the type as a "
            "Parameter, let its __torch_function__ give what detach() returns its class."
        )
    made.is_parameter = made._is_param = True
    return made


add_plain(Parameter)
restorable(Parameter)


def _restored(kind: type[Parameter], values: np.ndarray, requires_grad: bool) -> Parameter:
    return kind(make(values), requires_grad)
