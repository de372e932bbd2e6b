"""Making random tensors, with PyTorch's signatures; the numbers are `autograd.random`'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.types import DType, get_default_dtype, int64
from ..tensors import random as draws
from ..tensors.arguments import sizes_of
from ..tensors.device import require_cpu
from ..tensors.tensor import Tensor


def _leaf(value: Any, requires_grad: bool) -> Any:
    return value.requires_grad_() if requires_grad else value


def _sampler(name: str, draw: Callable[..., Any], what: str) -> Callable[..., Tensor]:
    def sample(
        *size: Any,
        generator: Any = None,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        **named: Any,
    ) -> Tensor:
        require_cpu(device)
        shape = sizes_of((named["size"],) if "size" in named else size)
        return _leaf(draw(shape, dtype or get_default_dtype(), generator), requires_grad)

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = f"{what} of a shape: ``{name}(2, 3)``. `generator` is the default one unless given."
    return sample


rand = _sampler("rand", draws.rand, "Uniform numbers in [0, 1)")
randn = _sampler("randn", draws.randn, "Normal numbers")


def _like(name: str, draw: Callable[..., Any]) -> Callable[..., Tensor]:
    def sample(
        input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **ignored: Any
    ) -> Tensor:
        require_cpu(device)
        of = dtype or input.dtype
        strides = draws.strides_like(input.ndarray, of)
        return _leaf(draw(input.ndarray.shape, of, strides=strides), requires_grad)

    sample.__name__ = sample.__qualname__ = name
    sample.__doc__ = f"``{name.removesuffix('_like')}`` in the shape and type of `input`."
    return sample


rand_like = _like("rand_like", draws.rand)
randn_like = _like("randn_like", draws.randn)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: DType = int64,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` to below `high` of shape `size`; ``randint(high, size)`` starts at 0."""
    require_cpu(device)
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    return _leaf(draws.randint(low, high, sizes_of((size,)), dtype, generator), requires_grad)


def randint_like(input: Tensor, low: int, high: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """``randint`` in the shape and type of `input`."""
    low, high = (0, low) if high is None else (low, high)
    of = dtype or input.dtype
    return draws.randint(low, high, input.ndarray.shape, of, strides=draws.strides_like(input.ndarray, of))


def randperm(n: int, *, generator: Any = None, dtype: DType = int64, device: Any = None) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    require_cpu(device)
    return draws.randperm(n, dtype, generator)


def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Tensor:
    """1 with the probability in `input` (or with `p`, in the shape of `input`), else 0."""
    if p is not None:
        return draws.bernoulli_with(p, input.ndarray.shape, input.dtype, generator)
    return draws.bernoulli(input, generator)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the weights in `input`, a row of weights or several."""
    return draws.multinomial(input, num_samples, replacement, generator)


def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, **options: Any) -> Tensor:
    """Normal numbers: of shape `size`, or one for each element of `mean` and `std` (tensors)."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return draws.normal_around(mean, std, generator)
    dtype = options.get("dtype") or get_default_dtype()
    drawn = draws.normal(sizes_of((size,)), dtype, mean, std, generator)
    return _leaf(drawn, options.get("requires_grad", False))
