"""The types of an optimizer's state."""

from __future__ import annotations

from ..tensors.tensor import Tensor


def check_moment(key: str, moment: Tensor, gradient: Tensor, exactly: bool) -> None:
    """RuntimeError in PyTorch's words for state of another type: exactly the gradient's, or a floating-point one."""
    if exactly and moment.dtype is not gradient.dtype:
        expected, got = moment.dtype.c_name, gradient.dtype.c_name
        raise RuntimeError(
            f"expected dtype {expected} for `end` but got dtype {got}: the "
            f"optimizer's state[{key!r}] has another type than the gradient; convert it with .to()"
        )
    if not moment.dtype.is_floating_point:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {moment.dtype.title}: the optimizer's "
            f"state[{key!r}] is not floating; convert it with .to()"
        )
