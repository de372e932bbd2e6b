"""Parameters of an optimizer as one vector, under the names by which programs' subclasses of L-BFGS know them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..functional.joining import cat
from ..ops.complex_numbers.parts import view_as_real
from ..tensors.creation import zeros
from ..tensors.tensor import Tensor


class FlatParameters:
    """What PyTorch's LBFGS has for its own step, as methods: a step of the library's calls those that are overridden.

    Complex parameters count as two numbers per element.
    """

    _params: list[Tensor]
    _numel_cache: int | None

    def _numel(self) -> int:
        if self._numel_cache is None:
            self._numel_cache = sum((1 + p.dtype.is_complex) * p.numel() for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self) -> Tensor:
        return cat([_flat_gradient(p) for p in self._params], 0)

    def _add_grad(self, step_size: Any, update: Tensor) -> None:
        offset = 0
        for p in self._params:
            numbers = view_as_real(p) if p.dtype.is_complex else p
            numel = numbers.numel()
            numbers.add_(update[offset : offset + numel].view_as(numbers), alpha=step_size)
            offset += numel
        if offset != self._numel():
            raise AssertionError(f"Expected offset {offset} to equal {self._numel()}")

    def _clone_param(self) -> list[Tensor]:
        return [p.contiguous().clone() for p in self._params]

    def _set_param(self, params_data: Iterable[Tensor]) -> None:
        for p, data in zip(self._params, params_data, strict=True):
            p.copy_(data)

    def _directional_evaluate(
        self, closure: Callable[[], Any], x: Iterable[Tensor], t: Any, d: Tensor
    ) -> tuple[float, Tensor]:
        """Loss and gradient `t` times `d` away; the parameters are `x` afterwards."""
        self._add_grad(t, d)
        loss = float(closure())
        gradient = self._gather_flat_grad()
        self._set_param(x)
        return loss, gradient


def _flat_gradient(p: Tensor) -> Any:
    gradient: Any = p.grad
    if gradient is None:
        flat = zeros(p.numel(), dtype=p.dtype)
    else:
        flat = (gradient.to_dense() if gradient.is_sparse else gradient).view(-1)
    return view_as_real(flat).view(-1) if flat.dtype.is_complex else flat
