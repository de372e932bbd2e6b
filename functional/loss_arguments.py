"""What losses take besides their operands: older names of the reduction, weights, variances; and which types."""

from __future__ import annotations

from typing import Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.requirements import Requirement
from ..tensors.creation import full_like
from ..tensors.operands import SCALAR_NAMES, require_floating
from ..tensors.tensor import Tensor

VARIANCES = Requirement(  # NaN is none that is negative
    lambda is_negative: (is_negative < 1,), ValueError, "var has negative entry/entries; variances are at least 0"
)


def reduced(loss: Any, reduction: str) -> Any:
    """`loss` element by element, its sum, or its mean."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of none, mean, sum")
    total = folds.sum(loss, tuple(range(loss.ndarray.ndim)))
    return total / loss.ndarray.size if reduction == "mean" else total


def older_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that PyTorch's older arguments mean where one is given: "none" unless `reduce`, "mean" or "sum"."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def refuse_integers(kernel: str, *operands: Any) -> None:
    """NotImplementedError if all operands are integers: differences are not rounded silently."""
    if not any(x.dtype.is_floating_point for x in operands):
        require_floating(kernel, operands[0])


def check_class_weights(input: Any, weight: Any, axis: int) -> None:
    """RuntimeError unless there is one weight of the input's type for each class, which `axis` of `input` counts."""
    classes = input.ndarray.shape[axis]
    if weight.ndarray.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}. Give one number for each class."
        )
    if weight.dtype is not input.dtype:
        wanted, got = SCALAR_NAMES[input.dtype.name], SCALAR_NAMES[weight.dtype.name]
        raise RuntimeError(f"expected scalar type {wanted} but found {got}: the weight has the input's type, use .to()")


def fitting_variance(input: Any, var: Any) -> Any:
    """One variance for each element, or for each row of the last axis."""
    if not isinstance(var, Tensor):
        return full_like(input, var)
    shape, given = input.ndarray.shape, var.ndarray.shape
    if given == shape or (given[:-1] == shape[:-1] and given[-1:] == (1,)):
        return var
    if given != shape[:-1]:
        raise ValueError(f"var is of incorrect size: {list(given)} for an input of {list(shape)}")
    return movement.reshape(var, (*given, 1))
