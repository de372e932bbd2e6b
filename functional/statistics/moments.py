"""Sums and means without NaN, means beside spreads, distances, covariances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops import logic, movement
from ...ops import reductions as folds
from ...ops.comparison import isnan, where
from ...ops.complex_numbers.parts import conj, real, view_as_complex, view_as_real
from ...ops.elementary import sqrt
from ...ops.pointwise import cast, converted
from ...ops.products import dot
from ...ops.requirements import Requirement, require
from ...ops.types import DType, bool_, get_default_dtype
from ...tensors.composite import relabel
from ...tracing.user_warning import warn_user
from ..arithmetic import sub
from ..elementwise.bounds import clamp
from ..reductions import in_dtype, mean, norm, spread_options, std, sum, var

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes
    from ...tensors.tensor import Tensor

FREQUENCIES = Requirement(lambda w: (w >= 0,), RuntimeError, "cov(): fweights cannot be negative")
WEIGHTS = Requirement(lambda w: (w >= 0,), RuntimeError, "cov(): aweights cannot be negative")
TOTAL = Requirement(lambda w: (w != 0,), RuntimeError, "cov(): weights sum to zero, can't be normalized")


def nansum(input: Tensor, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sum over `dim` (all axes without it) of the elements that are not NaN; bool and integers in int64.

    With `keepdim` the axes stay, with an extent of 1. RuntimeError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.nansum(tg.tensor([1., float("nan"), 2.]))
    tensor(3.)
    """
    if input.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs. Sum the .real and .imag parts.")
    if not input.dtype.is_floating_point:
        return sum(input, dim, keepdim, dtype=dtype)
    x = in_dtype(input, dtype)
    if not x.dtype.is_floating_point:  # whose NaN are numbers now
        return sum(x, dim, keepdim, dtype=dtype)
    out = sum(where(isnan(x), 0.0, x), dim, keepdim)
    relabel(out, "NansumBackward0", (input,), [x])
    return out


def nanmean(input: Tensor, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The mean over `dim` (all axes without it) of the elements that are not NaN, NaN where there are none.

    It is computed in `dtype`, if that is given. RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.nanmean(tg.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
    """
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.title}"
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {dtype.title}"
        )
    count = sum(cast(logic.logical_not(isnan(input)), dtype or input.dtype), dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The `p`-norm of ``input - other``, which are broadcast, as one number. RuntimeError for integers and bool.

    >>> import tracegrad as tg
    >>> tg.dist(tg.tensor([1., 2.]), tg.tensor([4., 6.]))
    tensor(5.)
    """
    difference = sub(input, other)
    if not (difference.dtype.is_floating_point or difference.dtype.is_complex):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {difference.dtype.title} instead."
        )
    out = norm(difference, p)
    relabel(out, "DistBackward0", (input, other), [input, other, out])
    return out


def var_mean(
    input: Tensor,
    dim: Axes | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(`var`, `mean`) over `dim`. Arguments and errors are those of `var`.

    >>> import tracegrad as tg
    >>> tg.var_mean(tg.tensor([1., 3.]), correction=0)
    (tensor(1.), tensor(2.))
    """
    dim, taken = spread_options(dim, unbiased, correction)
    return _of_one_node("VarMeanBackward0", input, var(input, dim, None, keepdim, correction=taken), dim, keepdim)


def std_mean(
    input: Tensor,
    dim: Axes | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(`std`, `mean`) over `dim`. Arguments and errors are those of `var`.

    >>> import tracegrad as tg
    >>> tg.std_mean(tg.tensor([1., 3.]), correction=0)
    (tensor(1.), tensor(2.))
    """
    dim, taken = spread_options(dim, unbiased, correction)
    return _of_one_node("StdMeanBackward0", input, std(input, dim, None, keepdim, correction=taken), dim, keepdim)


def _of_one_node(title: str, input: Any, spread: Any, dim: Any, keepdim: bool) -> tuple[Any, Any]:
    """`spread` and the mean: what PyTorch's one node for both keeps of them is watched for either."""
    middle = mean(input, dim, keepdim)
    kept = [input, spread] if title.startswith("Std") else [input]
    relabel(spread, title, (input,))
    relabel(middle, title, (input,), kept)
    return spread, middle


# ----------------------------------------------------------------------------------------------------- covariances


def _observations(name: str, input: Any) -> Any:
    """Rows of variables, columns of observations, in floating point."""
    ndim = input.ndarray.ndim
    if ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        )
    if input.dtype is bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input if ndim == 2 else movement.reshape(input, (1, input.ndarray.size))
    return x if x.dtype.is_floating_point or x.dtype.is_complex else cast(x, get_default_dtype())


def _checked_weights(name: str, weights: Any, count: int) -> None:
    is_frequency, of = name == "fweights", weights.dtype
    if weights.ndarray.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndarray.ndim} "
            "dimensions"
        )
    if is_frequency != (of.category == 1) or of is bool_:
        kind = "integral" if is_frequency else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {of.title} dtype")
    if weights.ndarray.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.ndarray.size} != {count}"
        )
    if count:
        require(weights, FREQUENCIES if is_frequency else WEIGHTS)


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of variables (rows) from observations (columns); of one variable its variance.

    Observations count `fweights` (integers) times, with the weights `aweights` (floating); both have one axis. What is
    divided by is their number less `correction`. RuntimeError for more than two dimensions, for bool, and for
    weights of other sizes or below 0.

    >>> import tracegrad as tg
    >>> tg.cov(tg.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    x = _observations("cov", input)
    rows, count = x.ndarray.shape
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            _checked_weights(name, weights, count)
    if fweights is None and aweights is None:
        divisor: Any = float(count - correction)
        if divisor <= 0:
            warn_user("cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
                          "number of observations.")  # fmt: skip
        divisor = max(divisor, 0.0)
        weighted, total = x, float(count)
    else:
        w = _product_of_weights(fweights, aweights)
        total = folds.sum(w, (0,))
        require(total, TOTAL)
        divisor = _degrees(w, total, aweights, correction)
        weighted = x * w
    mean = movement.reshape(folds.sum(weighted, (1,)), (rows, 1)) / total
    centred = x - mean
    scaled = centred if weighted is x else centred * w
    products = dot(scaled, conj(converted(movement.transpose(centred, (1, 0)), scaled.dtype))) / divisor
    kept = tuple(n for n in (rows, rows) if n != 1)
    return movement.reshape(products, kept)


def _product_of_weights(fweights: Any, aweights: Any) -> Any:
    found = [movement.reshape(w, (w.ndarray.size,)) for w in (fweights, aweights) if w is not None]
    return found[0] if len(found) == 1 else found[0] * found[1]


def _degrees(w: Any, total: Any, aweights: Any, correction: int) -> Any:
    """What weighted products are divided by."""
    if aweights is None or correction == 0:
        left = total - correction
    else:
        share = movement.reshape(aweights, (aweights.ndarray.size,))
        left = total - correction * folds.sum(w * share, (0,)) / total
    return where(left <= 0, 0.0, left)


def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables (rows) from observations (columns), between -1 and 1; of one variable 1.

    >>> import tracegrad as tg
    >>> tg.corrcoef(tg.tensor([[0., 1., 2.], [4., 2., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    _observations("corrcoef", input)
    c = cov(input)
    if not c.ndarray.ndim:
        return c / c
    size = c.ndarray.shape[0]
    places = movement.reshape(c, (size * size,))
    diagonal = movement.slice(places, (0,), (size * size,), (size + 1,))
    deviations = sqrt(real(diagonal) if diagonal.dtype.is_complex else diagonal)
    scaled = c / movement.reshape(deviations, (size, 1)) / movement.reshape(deviations, (1, size))
    if scaled.dtype.is_complex:
        return view_as_complex(clamp(view_as_real(scaled), -1.0, 1.0))
    return clamp(scaled, -1.0, 1.0)
