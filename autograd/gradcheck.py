"""``gradcheck``: the derivatives of a function against differences of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape.reverse import grad
from ..tensors.creation import from_numpy
from ..tensors.tensor import Tensor


class GradcheckError(RuntimeError):
    """The analytical and the numerical Jacobian differ."""


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _numerical(function: Callable[..., Any], inputs: tuple[Any, ...], x: Tensor, eps: float) -> list[np.ndarray]:
    """For each output the Jacobian with respect to `x`, by central differences."""
    columns: list[list[np.ndarray]] = []
    flat = x.detach().numpy().reshape(-1)
    for i in range(flat.size):
        before = flat[i]
        values = []
        for step in (eps, -eps):
            flat[i] = before + step
            values.append([np.array(out.detach().numpy()).ravel() for out in _tuple(function(*inputs))])
        flat[i] = before
        columns.append([(up - down) / (2 * eps) for up, down in zip(*values, strict=True)])
    return [np.stack(c, 1) for c in zip(*columns, strict=True)]


def _analytical(outputs: tuple[Any, ...], x: Tensor) -> list[np.ndarray]:
    return [_jacobian(out, x) for out in outputs]


def _jacobian(out: Any, x: Tensor) -> np.ndarray:
    rows = np.zeros((out.ndarray.size, x.ndarray.size))
    if not out.requires_grad:
        return rows
    for i in range(out.numel()):
        unit = np.zeros(out.numel(), dtype=out.detach().numpy().dtype)
        unit[i] = 1
        cotangent = from_numpy(unit.reshape(tuple(out.shape)))
        (g,) = grad(out, x, cotangent, retain_graph=True, allow_unused=True)
        if g is not None:
            rows[i] = g.detach().numpy().ravel()
    return rows


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of `func` at `inputs` (contiguous float64 tensors) with central differences.

    True if they agree; GradcheckError (or False) otherwise.
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


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """`gradcheck` of the gradients of `func`: its second derivatives."""
    given = _tuple(inputs)
    tracked = [x for x in given if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args: Any) -> Any:
        outputs = [out for out in _tuple(func(*args)) if out.requires_grad]
        cotangents = grad_outputs if grad_outputs is not None else [_ones(out) for out in outputs]
        found = grad(outputs, tracked, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, given, **options)


def _ones(out: Any) -> Any:
    return from_numpy(np.ones(tuple(out.shape), out.detach().numpy().dtype))
