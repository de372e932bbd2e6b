"""``gradcheck``: the derivatives of a function against differences of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tape.reverse import grad
from ..tensors.creation import from_numpy
from ..tensors.tensor import Tensor


class GradcheckError(RuntimeError):
    """The analytical and the numerical Jacobian differ: what ``gradcheck`` raises, a RuntimeError.

    >>> import tracegrad as tg
    >>> class Wrong(tg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g
    >>> try:
    ...     tg.autograd.gradcheck(Wrong.apply, (tg.ones(1, dtype=tg.float64, requires_grad=True),))
    ... except RuntimeError as error:
    ...     print(type(error).__name__)
    GradcheckError
    """


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _parts(numbers: np.ndarray) -> np.ndarray:
    """The same memory; real and imaginary parts of complex numbers as numbers of their own."""
    return numbers.view(numbers.real.dtype) if numbers.dtype.kind == "c" else numbers


def _numerical(function: Callable[..., Any], inputs: tuple[Any, ...], x: Tensor, eps: float) -> list[np.ndarray]:
    """For each output the Jacobian with respect to `x`, by central differences."""
    columns: list[list[np.ndarray]] = []
    flat = _parts(x.detach().numpy().reshape(-1))
    for i in range(flat.size):
        before = flat[i]
        values = []
        for step in (eps, -eps):
            flat[i] = before + step
            values.append([_parts(np.array(out.detach().numpy()).ravel()) for out in _tuple(function(*inputs))])
        flat[i] = before
        columns.append([(up - down) / (2 * eps) for up, down in zip(*values, strict=True)])
    return [np.stack(c, 1) for c in zip(*columns, strict=True)]


def _analytical(outputs: tuple[Any, ...], x: Tensor) -> list[np.ndarray]:
    return [_jacobian(out, x) for out in outputs]


def _jacobian(out: Any, x: Tensor) -> np.ndarray:
    unit = np.zeros(out.numel(), dtype=out.detach().numpy().dtype)
    rows = np.zeros((_parts(unit).size, _parts(np.zeros(x.numel(), x.ndarray.dtype)).size))
    if not out.requires_grad:
        return rows
    for i in range(len(rows)):
        unit = np.zeros_like(unit)
        _parts(unit)[i] = 1  # of which the gradient is that of one part of one number
        cotangent = from_numpy(unit.reshape(tuple(out.shape)))
        (g,) = grad(out, x, cotangent, retain_graph=True, allow_unused=True)
        if g is not None:
            rows[i] = _parts(np.array(g.detach().numpy()).ravel())
    return rows


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of `func` at `inputs` (contiguous float64 or complex128 tensors) with central differences
    of the step `eps` (default 1e-6).

    Inputs that require gradients count. Real and imaginary parts of complex numbers count as numbers of their own.
    Numbers agree within ``atol + rtol * |numerical|`` (defaults 1e-5 and 1e-3). True if they do; GradcheckError
    otherwise, or False with ``raise_exception=False``.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], dtype=tg.float64, requires_grad=True)
    >>> tg.autograd.gradcheck(lambda x: x.sin(), (x,))
    True
    """
    given = _tuple(inputs)
    outputs = _tuple(func(*given))
    for place, x in enumerate(given):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        pairs = zip(_analytical(outputs, x), _numerical(func, given, x, eps), strict=True)
        for number, (analytical, numerical) in enumerate(pairs):
            if np.allclose(analytical, numerical, rtol, atol):
                continue
            if not raise_exception:
                return False
            raise GradcheckError(
                f"Jacobian mismatch for output {number} with respect to input {place},\n"
                f"numerical:{numerical}\nanalytical:{analytical}\nCheck the derivative of what func calls."
            )
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    **options: Any,
) -> bool:
    """``gradcheck`` of the gradients of `func`: its second derivatives.

    `grad_outputs` are the cotangents of the outputs (default: numbers that are all equal); the options are those of
    ``gradcheck``.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], dtype=tg.float64, requires_grad=True)
    >>> tg.autograd.gradgradcheck(lambda x: (x ** 3).sum(), (x,))
    True
    """
    given = _tuple(inputs)
    tracked = [x for x in given if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args: Any) -> Any:
        outputs = [out for out in _tuple(func(*args)) if out.requires_grad]
        cotangents = grad_outputs if grad_outputs is not None else [_ones(out) for out in outputs]
        found = grad(outputs, tracked, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, given, **options)


def _ones(out: Any) -> Any:
    dtype = out.detach().numpy().dtype
    return from_numpy(np.full(tuple(out.shape), 1 + 0.5j if dtype.kind == "c" else 1, dtype))
