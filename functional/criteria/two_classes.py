"""Cross entropies of two classes: of probabilities and of logits. Each takes `reduction`: "mean", "sum" or "none"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...autograd.function import Operation
from ...ops import arithmetic, elementary
from ...ops.pointwise import converted
from ...ops.requirements import Requirement, require
from ...tensors.autocasting import full_precision
from ...tensors.calling.kernels import require_floating
from ...tensors.composite import composite, whole
from ...tensors.fusion import fused
from ...tensors.in_place import require_castable
from ...tensors.short_floats import rounded_once
from ..activations import logsigmoid
from ..checks.derivatives import require_constants
from ..forms import losses as forms
from ..loss_arguments import older_reduction, reduced

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

#: Losses keep both operands, whichever is differentiated.
_BOTH = {"input": ("input", "target"), "target": ("input", "target")}


def _check_same_shape(input: Any, target: Any) -> None:
    if input.ndarray.shape != target.ndarray.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )


def _between_0_and_1(x: Any) -> tuple[Any, Any]:
    return x >= 0, x <= 1


PREDICTED = Requirement(
    _between_0_and_1,
    RuntimeError,
    "all elements of input should be between 0 and 1; use binary_cross_entropy_with_logits for scores",
)
OBSERVED = Requirement(
    _between_0_and_1, RuntimeError, "all elements of target should be between 0 and 1: they are probabilities, too"
)


@full_precision
@whole
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-(target * log(input) + (1 - target) * log(1 - input))`` of probabilities, times `weight`; reduced.

    `target` has the input's shape (ValueError), `weight` is broadcast. Logarithms are kept above -100, and the
    derivative finite, as in PyTorch. RuntimeError for an input or a target outside [0, 1], NotImplementedError for
    integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.binary_cross_entropy(tg.tensor([0.5, 1.]), tg.tensor([1., 1.]), reduction="none")
    tensor([0.6931, -0.0000])
    """
    reduction = older_reduction(size_average, reduce, reduction)
    _check_same_shape(input, target)
    if target.dtype is not input.dtype:
        got, wanted = target.dtype.title, input.dtype.title
        raise RuntimeError(f"Found dtype {got} but expected {wanted}: the target has the input's type, use .to(input)")
    require_floating("binary_cross_entropy", input)
    require_constants("binary_cross_entropy", weight=weight)
    require(input, PREDICTED)
    require(target, OBSERVED)
    if weight is None:
        return _of_probabilities(input, target, reduction)
    return _weighted_of_probabilities(input, target, weight, reduction)


@composite("BinaryCrossEntropyBackward0")
def _weighted_of_probabilities(input: Any, target: Any, weight: Any, reduction: str) -> Any:
    return reduced(_ProbabilityCrossEntropy.apply(input, target) * weight, reduction)


@fused(
    "BinaryCrossEntropyBackward0",
    forms.cross_entropy_of_probabilities,
    forms.cross_entropy_of_probabilities_gradient,
    operands=2,
    checked={0: (0, 1), 1: (0, 1)},
    one_kernel=False,
)
def _of_probabilities(input: Any, target: Any, reduction: str) -> Any:
    return reduced(_ProbabilityCrossEntropy.apply(input, target), reduction)


class _ProbabilityCrossEntropy(Operation):
    """The cross entropy element by element, with a derivative that survives 0 and 1."""

    @staticmethod
    def forward(ctx: Any, p: Any, target: Any) -> Any:
        ctx.save_for_backward(p, target)
        log, log_of_rest = elementary.log(p), elementary.log1p(-p)
        return (target - 1) * arithmetic.maximum(log_of_rest, -100.0) - target * arithmetic.maximum(log, -100.0)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        p, target = ctx.saved_tensors
        to_p = g * (p - target) / arithmetic.maximum((1 - p) * p, 1e-12) if ctx.needs_input_grad[0] else None
        return to_p, g * (elementary.log1p(-p) - elementary.log(p)) if ctx.needs_input_grad[1] else None


@full_precision
@whole
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, without overflow; reduced.

    `target` has the input's shape (ValueError). The losses are multiplied by `weight`, their part for positive targets
    by `pos_weight`; both are broadcast. `reduction` is "mean", "sum" or "none".

    >>> import tracegrad as tg
    >>> tg.nn.functional.binary_cross_entropy_with_logits(tg.tensor([0., 100.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    if input.ndarray.shape != target.ndarray.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    require_floating("log_sigmoid_cpu", input)
    require_castable(input.dtype, target.dtype)
    require_constants("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if weight is None and pos_weight is None:
        return _of_logits(input, target, reduction)
    return _weighted_of_logits(input, target, weight, pos_weight, reduction)


@rounded_once
@composite("BinaryCrossEntropyWithLogitsBackward0", _BOTH)
def _weighted_of_logits(input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    log = logsigmoid(input)
    if pos_weight is not None:
        log = log * ((pos_weight - 1) * target + 1)
    loss = converted((1 - target) * input - log, target.dtype)
    return reduced(loss if weight is None else loss * weight, reduction)


@fused(
    "BinaryCrossEntropyWithLogitsBackward0",
    forms.cross_entropy_of_logits,
    forms.cross_entropy_of_logits_gradient,
    operands=2,
    checked={0: (0, 1), 1: (0,)},
    watched={0: (0, 1), 1: (0, 1)},
)
def _of_logits(input: Any, target: Any, reduction: str) -> Any:
    log = logsigmoid(input)
    loss = converted((1 - target) * input - log, target.dtype)  # PyTorch computes in place, from the target on
    return reduced(loss, reduction)
