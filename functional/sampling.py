"""Making random tensors, with PyTorch's signatures; the numbers are `autograd.random`'s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.comparison import where
from ..ops.core import current
from ..ops.types import DType, bool_, get_default_dtype, int64
from ..tensors import random as draws
from ..tensors.arguments import named_sizes, sizes_of
from ..tensors.composite import relabel
from ..tensors.creation import refuse_unknown
from ..tensors.device import require_cpu
from ..tensors.drawing import integers
from ..tensors.layouts.formats import factory
from ..tensors.tensor import Tensor
from .complex_numbers.draws import with_complex
from .statistics import weighted_draws

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike, Sizes
    from ..tensors.generator import Generator

_PROMPT = ">>>"


def _leaf(value: Any, requires_grad: bool) -> Any:
    return value._begin_as_leaf() if requires_grad else value


def _sampler(name: str, draw: Callable[..., Any], what: str) -> Callable[..., Tensor]:
    def sample(
        *size: Sizes,
        generator: Generator | None = None,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **named: Sizes,
    ) -> Tensor:
        if named:
            refuse_unknown(name, named)
            size = (named_sizes(name, "size", named["size"]),)
        require_cpu(device)
        if not size:
            raise TypeError(f"{name}() received an invalid combination of arguments - got (), but expected its size")
        shape = sizes_of(size)
        return _leaf(draw(shape, dtype or get_default_dtype(), generator), requires_grad)

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = f"""{what} of a shape, ``{name}(2, 3)`` or ``{name}((2, 3))``.

    The type is `dtype`, by default the default type. `generator` is the default one unless given; the numbers are
    PyTorch's for the same seed. RuntimeError for integers and for another device than the CPU, TypeError for unknown
    keywords.

    {_PROMPT} import tracegrad as tg
    {_PROMPT} tg.{name}(2, 3, dtype=tg.float64).shape
    tracegrad.Size([2, 3])
    """
    return factory(sample)


#: The parts of a complex normal number have half its variance each.
_uniform, _normal = with_complex(draws.rand), with_complex(draws.randn, 2**-0.5)
rand = _sampler("rand", _uniform, "Uniform numbers in [0, 1) (both parts of complex ones)")
randn = _sampler("randn", _normal, "Normal numbers of variance 1")


def _like(name: str, draw: Callable[..., Any]) -> Callable[..., Tensor]:
    def sample(
        input: Tensor,
        *,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        requires_grad: bool = False,
        **ignored: object,
    ) -> Tensor:
        refuse_unknown(name, ignored)
        require_cpu(device)
        of = dtype or input.dtype
        strides = draws.strides_like(input.ndarray, of)
        return _leaf(draw(input.ndarray.shape, of, strides=strides), requires_grad)

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = f"""``{name.removesuffix("_like")}`` in the shape and (unless `dtype` is given) type of `input`.

    Errors are those of that function.

    {_PROMPT} import tracegrad as tg
    {_PROMPT} tg.{name}(tg.zeros(2, 3)).shape
    tracegrad.Size([2, 3])
    """
    return factory(sample)


rand_like = _like("rand_like", _uniform)
randn_like = _like("randn_like", _normal)


@factory
def randint(
    low: int | None = None,
    high: int | Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType = int64,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers drawn evenly from `low` to below `high`, of shape `size`.

    ``randint(high, size)`` and ``randint(high=high, size=size)`` start at 0.

    int64 unless `dtype` says otherwise. `generator` is the default one unless given. RuntimeError for an empty range.

    >>> import tracegrad as tg
    >>> tg.randint(5, (2, 3)).shape, tg.randint(3, 4, (2,))
    (tracegrad.Size([2, 3]), tensor([3, 3]))
    """
    require_cpu(device)
    start: Any = 0 if low is None and high is not None else low
    stop: Any = high
    shape: Any = size
    if isinstance(high, (tuple, list)):
        start, stop, shape = 0, low, high
    elif high is None:
        start, stop = 0, low
    for name, bound in (("low", start), ("high", stop)):
        if not hasattr(bound, "__index__"):
            raise TypeError(f"randint(): argument '{name}' must be int, not {type(bound).__name__}")
    return _leaf(integers.randint(start, stop, sizes_of((shape,)), dtype, generator), requires_grad)


@factory
def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`randint` in the shape and (unless `dtype` is given) type of `input`; with one bound it is the upper one.

    `generator` is the default one unless given. RuntimeError for an empty range, TypeError without a bound.

    >>> import tracegrad as tg
    >>> tg.randint_like(tg.zeros(2), 7, 8)
    tensor([7., 7.])
    """
    require_cpu(device)
    start, stop = (0, low) if high is None else (low or 0, high)
    if stop is None:
        raise TypeError("randint_like() received an invalid combination of arguments - got (Tensor), but needs `high`")
    if (dtype or input.dtype).is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    of, strides = dtype or input.dtype, draws.strides_like(input.ndarray, dtype or input.dtype)
    return _leaf(integers.randint(start, stop, input.ndarray.shape, of, generator, strides), requires_grad)


@factory
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DType = int64,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order, int64 unless `dtype` says otherwise.

    `generator` is the default one unless given. RuntimeError for a negative `n`.

    >>> import tracegrad as tg
    >>> tg.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    require_cpu(device)
    return _leaf(integers.randperm(n, dtype, generator), requires_grad)


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability in `input` (or with `p`, in the shape of `input`), else 0, in the type of `input`.

    `generator` is the default one unless given. RuntimeError for probabilities outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.bernoulli(tg.tensor([0., 1.]))
    tensor([0., 1.])
    """
    if p is not None:
        return draws.bernoulli_with(p, input.ndarray.shape, input.dtype, generator)
    return _followed("BernoulliBackward0", draws.bernoulli(input, generator), input)


def _followed(title: str, drawn: Any, *parameters: Any) -> Any:
    """`drawn`, on the tape of its parameters: their gradients are zero, as in PyTorch."""
    tensors = [x for x in parameters if isinstance(x, Tensor) and x.requires_grad]
    for x in tensors:
        drawn = where(current().constant(False, bool_), x, drawn)
    if tensors:
        relabel(drawn, title, tensors)
    return drawn


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices, int64, drawn with the weights in `input`, one row or several.

    Weights need not sum to 1. Without `replacement` no index comes twice. RuntimeError for weights that are negative,
    infinite or all 0, and for more samples than weights without replacement.

    >>> import tracegrad as tg
    >>> tg.multinomial(tg.tensor([[0., 1.], [3., 0.]]), 1)
    tensor([[1],
            [0]])
    """
    return weighted_draws.multinomial(input, num_samples, replacement, generator)


@factory
def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers: of shape `size`, or one for each element of `mean` and `std`, of which one is a tensor then.

    The type is that of the tensors, or `dtype`, by default the default type. `generator` is the default one unless
    given. RuntimeError for a negative `std`, TypeError for numbers without `size` and for a tensor with one.

    >>> import tracegrad as tg
    >>> tg.normal(tg.tensor([1., 2.]), 0.0)
    tensor([1., 2.])
    """
    mean = mean.item() if isinstance(mean, np.generic) else mean
    std = std.item() if isinstance(std, np.generic) else std
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if requires_grad or any(option is not None for option in (size, dtype, device)):
            raise TypeError(
                "normal() received an invalid combination of arguments: size, dtype, device and requires_grad belong "
                "to a mean and a std that are numbers; leave them out, or convert the result"
            )
        title = f"NormalBackward{isinstance(mean, Tensor) + 2 * isinstance(std, Tensor)}"
        return _followed(title, draws.normal_around(mean, std, generator), mean, std)
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            "normal() received an invalid combination of arguments: two numbers need a size, a tuple of ints, not "
            f"{type(size).__name__}"
        )
    require_cpu(device)
    drawn = draws.normal(sizes_of((size,)), dtype or get_default_dtype(), mean, std, generator)
    return _leaf(drawn, requires_grad)
