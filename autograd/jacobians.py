"""Jacobians of a function, by differences and by derivatives, as `gradcheck` compares them.

Real and imaginary parts of complex numbers are numbers of their own: a Jacobian is a real matrix with a row for each
part of an output and a column for each part of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tape.reverse import grad
from ..tensors.creation import from_numpy
from ..tensors.tensor import Tensor
from .forward_ad import dual_level, make_dual, unpack_dual

Function = Callable[..., Any]


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def parts(numbers: np.ndarray) -> np.ndarray:
    """The same memory; real and imaginary parts of complex numbers as numbers of their own."""
    return numbers.view(numbers.real.dtype) if numbers.dtype.kind == "c" else numbers


def numbers_of(tensor: Any) -> np.ndarray:
    """The parts of all elements, in a row; a copy."""
    return parts(np.array(tensor.detach().resolve_conj().resolve_neg().numpy()).ravel())


def differentiable(outputs: Any) -> tuple[Any, ...]:
    """Those of a function's results that require gradients."""
    return tuple(out for out in as_tuple(outputs) if out.requires_grad)


class Numerical:
    """Central differences of a function's outputs."""

    def __init__(self, function: Function, inputs: tuple[Any, ...], eps: float) -> None:
        self._function, self._inputs, self._eps = function, inputs, eps

    def along(self, place: int, step: np.ndarray) -> list[np.ndarray]:
        """For each output, how it changes along `step`, numbers for the parts of input `place`."""
        x = self._inputs[place]
        before = numbers_of(x)
        values = []
        for sign in (1, -1):
            self._set(x, before + sign * self._eps * step)
            values.append([numbers_of(out) for out in as_tuple(self._function(*self._inputs))])
        self._set(x, before)
        with np.errstate(all="ignore"):
            return [(up - down) / (2 * self._eps) for up, down in zip(*values, strict=True)]

    def jacobians(self, place: int) -> list[np.ndarray]:
        """For each output the Jacobian with respect to input `place`."""
        count = numbers_of(self._inputs[place]).size
        columns = [self.along(place, unit) for unit in np.eye(count)]
        if not columns:
            outputs = as_tuple(self._function(*self._inputs))
            return [np.zeros((numbers_of(out).size, 0)) for out in outputs]
        return [np.stack(column, 1) for column in zip(*columns, strict=True)]

    @staticmethod
    def _set(x: Any, numbers: np.ndarray) -> None:
        x.data.copy_(tensor_of(numbers, x))  # what was saved for a backward pass is as it was in the end


def tensor_of(numbers: np.ndarray, like: Any) -> Any:
    """`numbers`, parts of elements, as a tensor of the shape and type of `like`."""
    dtype = like.ndarray.dtype
    elements = numbers.astype(np.zeros((), dtype).real.dtype)
    return from_numpy(elements.view(dtype).reshape(tuple(like.shape)))


def pulled(output: Any, x: Any, cotangent: np.ndarray) -> np.ndarray:
    """The parts of the gradient by `x` of one output, whose parts have the cotangents given."""
    (g,) = grad(output, x, tensor_of(cotangent, output), retain_graph=True, allow_unused=True)
    return np.zeros(numbers_of(x).size) if g is None else numbers_of(g)


def reverse_jacobian(output: Any, x: Any) -> np.ndarray:
    count = numbers_of(output).size
    if not output.requires_grad or not count:
        return np.zeros((count, numbers_of(x).size))
    return np.stack([pulled(output, x, unit) for unit in np.eye(count)])


def batched_jacobian(output: Any, x: Any) -> np.ndarray:
    """`reverse_jacobian`, of all cotangents at once."""
    count = numbers_of(output).size
    if not count:
        return np.zeros((0, numbers_of(x).size))
    units = [tensor_of(unit, output) for unit in np.eye(count)]
    batch = from_numpy(np.stack([unit.numpy() for unit in units]))
    (g,) = grad(output, x, batch, retain_graph=True, allow_unused=True, is_grads_batched=True)
    return np.zeros((count, numbers_of(x).size)) if g is None else numbers_of(g).reshape(count, -1)


def pushed(function: Function, inputs: tuple[Any, ...], place: int, tangent: np.ndarray) -> list[np.ndarray]:
    """For each output, its derivative along `tangent`, numbers for the parts of input `place`."""

    places = tracked(inputs)
    with dual_level():
        along = {i: tensor_of(tangent if i == place else 0 * numbers_of(inputs[i]), inputs[i]) for i in places}
        duals = [make_dual(x.detach(), along[i]) if i in along else x for i, x in enumerate(inputs)]
        outputs = [unpack_dual(out) for out in as_tuple(function(*duals))]
    return [0 * numbers_of(out.primal) if out.tangent is None else numbers_of(out.tangent) for out in outputs]


def forward_jacobians(function: Function, inputs: tuple[Any, ...], place: int) -> list[np.ndarray]:
    count = numbers_of(inputs[place]).size
    columns = [pushed(function, inputs, place, unit) for unit in np.eye(count)]
    return [np.stack(column, 1) for column in zip(*columns, strict=True)]


def tracked(inputs: Sequence[Any]) -> list[int]:
    """The places of the tensors that require gradients."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
