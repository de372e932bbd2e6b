"""``Variable``, PyTorch's old name of tensors that take part in autograd."""

from __future__ import annotations

from typing import Any, NoReturn

from ..tensors.creation import empty
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user


class VariableMeta(type):
    """What makes every tensor an instance of ``Variable``."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """A tensor of the numbers of `data`, in the same memory, without its history; ``Variable`` has no objects.

    Args:
        data: A tensor of any shape and dtype, or a sparse one; None makes an empty one.
        requires_grad: Whether gradients are recorded; floating and complex dtypes only.
        volatile: Without effect, as in PyTorch; True warns.

    Raises:
        TypeError: `data` is not a tensor.
        ValueError: `volatile` and `requires_grad` are both True.

    >>> import tracegrad as tg
    >>> v = tg.autograd.Variable(tg.ones(2), requires_grad=True)
    >>> v, isinstance(tg.ones(2), tg.autograd.Variable)
    (tensor([1., 1.], requires_grad=True), True)
    """

    def __new__(  # type: ignore[misc]  # as in PyTorch, what comes out is a tensor
        cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        if data is not None and not (isinstance(data, Tensor) or getattr(data, "is_sparse", False)):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}. Use tensor(data).")
        if volatile:
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time! Leave volatile out.")
            warn_user("volatile was removed and now has no effect. Use `with no_grad():` instead.")
        tensor = empty(0) if data is None else data.detach()
        return tensor.requires_grad_() if requires_grad else tensor


def variable(data: object = None, *args: object, **kwargs: object) -> NoReturn:
    """PyTorch's oldest way to make a tensor, which is gone: RuntimeError, whatever is given.

    >>> import tracegrad as tg
    >>> tg.autograd.variable([1.0])
    Traceback (most recent call last):
    RuntimeError: torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")
