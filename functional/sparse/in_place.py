"""In-place forms for sparse tensors: of the values where the places stay, else of the tensor as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tape.grad_mode import is_recording
from ...tracing.watch import forbid
from . import arithmetic, structure
from .of_values import VALUE_BY_VALUE
from .sparse_tensor import SparseTensor, operation

#: What ``x += y`` and the like call.
_OPERATORS = {"add": ("__iadd__",), "sub": ("__isub__",), "mul": ("__imul__",), "div": ("__itruediv__",)}


def _written(name: str) -> None:
    """The in-place form of a function of each value: the values' own."""
    method = f"{name}_"

    def write(self: SparseTensor, *args: Any, **options: Any) -> SparseTensor:
        if not (self.coalesced or name in ("neg", "negative")):
            raise RuntimeError(f"{method} requires coalesced input. Call coalesce() first.")
        getattr(self.stored, method)(*args, **options)
        return self

    _described(write, method, f"``{name}()`` of the values, stored in their memory; returns the tensor. RuntimeError")
    operation(method)(write)


def _scaled(name: str, form: Callable[..., Any]) -> None:
    """The in-place form of a product or quotient: the values' own for a number."""
    method = f"{name}_"

    def write(self: SparseTensor, other: Any, **options: Any) -> SparseTensor:
        if isinstance(other, SparseTensor) or getattr(other, "ndim", 0) != 0:
            return _replaced(self, form(self, other, **options), method)
        getattr(self.stored, method)(other, **options)
        return self

    _described(write, method, f"``{name}()``, stored in this tensor; returns it. RuntimeError", "2")
    operation(method, *_OPERATORS.get(name, ()))(write)


def _rebound(name: str, form: Callable[..., Any], arguments: str) -> None:
    """The in-place form of what gives other places."""
    method = f"{name}_"

    def write(self: SparseTensor, *args: Any, **options: Any) -> SparseTensor:
        return _replaced(self, form(self, *args, **options), method)

    _described(write, method, f"``{name}()``, which this tensor becomes; returns it. RuntimeError", arguments)
    operation(method, *_OPERATORS.get(name, ()))(write)


def _described(write: Any, method: str, text: str, arguments: str = "") -> None:
    write.__name__ = write.__qualname__ = method
    write.__doc__ = f"""{text} for a leaf that requires a gradient.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.{method}({arguments}) is x
    True
    """


def _replaced(self: SparseTensor, other: SparseTensor, method: str) -> SparseTensor:
    forbid(f"{method}() of a sparse tensor", "Write the form without _, which gives a new tensor.")
    if is_recording() and self.requires_grad and self.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Use the form without _."
        )
    self.shape = other.shape
    return self.become(other)


for _name in VALUE_BY_VALUE:
    _written(_name)
for _name in ("mul", "multiply"):
    _scaled(_name, arithmetic.mul)
for _name in ("div", "divide", "true_divide"):
    _scaled(_name, arithmetic.div)
for _name, _form, _arguments in (
    ("add", arithmetic.add, "x"),
    ("sub", arithmetic.sub, "x"),
    ("subtract", arithmetic.sub, "x"),
    ("t", structure.t, ""),
    ("transpose", structure.transpose, "0, 1"),
    ("swapaxes", structure.transpose, "0, 1"),
    ("swapdims", structure.transpose, "0, 1"),
    ("zero", structure.zeros_like, ""),
):
    _rebound(_name, _form, _arguments)


@operation("copy_")
def copy_(self: SparseTensor, src: SparseTensor, non_blocking: bool = False) -> SparseTensor:
    """Hold what another sparse tensor of this shape holds, in this one's element type; returns this one.

    RuntimeError for a dense tensor and for another shape. `non_blocking` is about devices that are not here.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.copy_(x * 3).values()
    tensor([3., 3.])
    """
    if not isinstance(src, SparseTensor):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Use to_sparse() first.")
    if self.shape != src.shape:
        raise RuntimeError(
            f"copy_() of sparse tensors takes no broadcast: this one has size {list(self.shape)}, src {list(src.shape)}"
        )
    return _replaced(self, src.to(self.dtype).clone(), "copy_")
