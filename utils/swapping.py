"""Two tensors that become each other, for who holds one and cannot be given another."""

from __future__ import annotations

from typing import Any

from ..tensors.blank import FIELDS
from ..tensors.tensor import Tensor
from ..tracing.watch import changes, forbid

_OF_ARRAYS = ("buffer", "label", "ndarray", "place", "steps")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Let `t1` and `t2` be each other: memory, class, attributes, gradients and history, whoever holds them.

    Views of either go on showing the memory that they show. RuntimeError for a tensor with `retain_grad`; refused
    inside of a compiled function.

    >>> import tracegrad as tg
    >>> x, y = tg.zeros(2), tg.nn.Parameter(tg.ones(3))
    >>> tg.utils.swap_tensors(x, y)
    >>> x, y
    (Parameter containing:
    tensor([1., 1., 1.], requires_grad=True), tensor([0., 0.]))
    """
    forbid("swap_tensors()", "Do it outside of the compiled function.")
    for each in (t1, t2):
        if each._node is not None and each._output in each._node.retained:
            raise RuntimeError("Cannot swap a tensor that keeps its gradient: retain_grad() has a weakref to it")
    first, second = _taken(t1), _taken(t2)
    t1.__class__, t2.__class__ = type(t2), type(t1)
    _given(t1, second)
    _given(t2, first)
    changes.count += 1


def _taken(x: Any) -> dict[str, Any]:
    """All that is kept in a tensor, by name; what the program keeps under its name `__dict__`."""
    fields = {name: getattr(x, name) for name in (*_OF_ARRAYS, *FIELDS) if name != "memory"}
    return {**fields, "memory": None, "__dict__": dict(vars(x))}


def _given(x: Any, fields: dict[str, Any]) -> None:
    own = fields.pop("__dict__")
    for name, value in fields.items():
        setattr(x, name, value)
    vars(x).clear()
    vars(x).update(own)
    accumulator = None if x._accumulator is None else x._accumulator()
    if accumulator is not None:
        accumulator.variable = x
