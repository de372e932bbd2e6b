"""What losses take besides their operands: older names of the reduction, weights, variances; and which types."""

from __future__ import annotations

from typing import Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.movement import by_rows
from ..ops.pointwise import cast, converted
from ..ops.requirements import Requirement
from ..ops.types import bfloat16, bool_, float16, float32, promote_types
from ..tensors.calling.kernels import require_floating
from ..tensors.creation import full_like
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user

VARIANCES = Requirement(  # NaN is none that is negative
    lambda is_negative: (is_negative < 1,), ValueError, "var has negative entry/entries; variances are at least 0"
)


def reduced(loss: Any, reduction: str) -> Any:
    """`loss` element by element, its sum, or its mean."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of none, mean, sum")
    every = tuple(range(loss.ndarray.ndim))
    if reduction == "mean" and loss.dtype in (float16, bfloat16):  # a mean is rounded once
        return cast(folds.sum(cast(loss, float32), every) / loss.ndarray.size, loss.dtype)
    total = folds.sum(loss, every)
    return total / loss.ndarray.size if reduction == "mean" else total


def older_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that PyTorch's older arguments mean where one is given: "none" unless `reduce`, "mean" or "sum"."""
    if size_average is None and reduce is None:
        return reduction
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn_user(f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.")
    return meant


def refuse_integers(kernel: str, *operands: Any) -> None:
    """NotImplementedError if all operands are integers: differences are not rounded silently."""
    if not any(x.dtype.is_floating_point for x in operands):
        require_floating(kernel, operands[0])


def compared(kernel: str, input: Any, target: Any) -> tuple[Any, Any]:
    """The operands of a difference, truth values beside floats as these; NotImplementedError for other types."""
    if input.dtype.is_floating_point and target.dtype.is_floating_point:
        return input, target
    for x in (input, target):
        if x.dtype.is_complex:
            require_floating(kernel, x)
    refuse_integers(kernel, input, target)
    if input.dtype is bool_:
        return cast(input, target.dtype), target
    return input, cast(target, input.dtype) if target.dtype is bool_ else target


def broadcast_types(input: Any, target: Any) -> tuple[Any, Any]:
    """The operands as they take part in the type of a difference: PyTorch broadcasts them first, so that one without
    axes counts as others do."""
    if input.ndarray.dtype is target.ndarray.dtype or input.ndarray.ndim and target.ndarray.ndim:
        return input, target
    dtype = promote_types(input.dtype, target.dtype)
    return converted(input, dtype), converted(target, dtype)


def check_class_weights(input: Any, weight: Any, axis: int) -> None:
    """RuntimeError unless there is one weight of the input's type for each class, which `axis` of `input` counts."""
    classes = input.ndarray.shape[axis]
    if weight.ndarray.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}. Give one number for each class."
        )
    if weight.dtype is not input.dtype:
        wanted, got = input.dtype.title, weight.dtype.title
        raise RuntimeError(f"expected scalar type {wanted} but found {got}: the weight has the input's type, use .to()")


def fitting_variance(input: Any, var: Any) -> Any:
    """One variance for each element, or for all elements along one axis."""
    if not isinstance(var, Tensor):
        return full_like(input, var)
    shape, given = input.ndarray.shape, var.ndarray.shape
    shared = [n for extent, n in zip(shape, given, strict=False) if extent != n] if len(given) == len(shape) else None
    if shared in ([], [1]):
        return var
    if given != shape[:-1]:
        raise ValueError(f"var is of incorrect size: {list(given)} for an input of {list(shape)}")
    return movement.reshape(var, (*given, 1))


def check_weight(input: Any, weight: Any) -> None:
    """ValueError unless there is a weight for each element of `input`."""
    if weight.ndarray.shape != input.ndarray.shape:
        raise ValueError("Weights and input must have the same size.")


def weighted(loss: Any, input: Any, weight: Any, reduction: str) -> Any:
    """The elements of `loss` times their weights, or the sum of that, or that divided by the sum of the weights."""
    check_weight(input, weight)
    total = reduced(loss * weight, "sum" if reduction == "mean" else reduction)
    return total / reduced(weight, "sum") if reduction == "mean" else total


def both_by_rows(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's kernels of these losses go by rows where one operand does not, and so do their gradients."""
    if input.ndarray.flags.c_contiguous and target.ndarray.flags.c_contiguous:
        return input, target
    return by_rows(input), by_rows(target)
