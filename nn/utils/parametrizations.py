"""Parametrizations: a weight as direction and length, with a spectral norm of 1, or orthogonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functional.joining import cat, narrow
from ...functional.linear_algebra import matmul, mv
from ...functional.matrices import linalg
from ...functional.reductions import sum
from ...functional.shapes import transpose, unsqueeze
from ...functional.shaping.diagonals import diagonal, tril
from ...ops.array import eager
from ...tape.grad_mode import no_grad
from ...tensors.creation import eye, zeros_like
from ...tensors.tensor import Tensor, make
from ..module import Module
from .norms import matrix_of, norm_except, normalized, spectral_dim, start_vectors
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


# -------------------------------------------------------------------------------------------------------- weight norm


class _WeightNorm(Module):
    """A direction times a length, for each slice along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Any, Any]:
        return norm_except(weight, self.dim), weight.clone()


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let ``module.name`` be a length (``parametrizations.weight.original0``) times a direction (``original1``).

    One length for each slice along `dim`; a single one for None. States saved with the older
    ``nn.utils.weight_norm`` are loaded. Returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()][1:]
    [('parametrizations.weight.original0', (2, 1)), ('parametrizations.weight.original1', (2, 3))]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state: Any, prefix: str, *others: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state for key in old):
            for i, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{i}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


# ------------------------------------------------------------------------------------------------------ spectral norm


class _SpectralNorm(Module):
    """A weight over its largest singular value, which a power iteration estimates."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = matrix_of(weight.detach(), self.dim)
                u, v = start_vectors(matrix, eps)
                self.register_buffer("_u", u)
                self.register_buffer("_v", v)
                self._iterate(matrix, 15)

    def _iterate(self, matrix: Any, times: int) -> None:
        for _ in range(times):
            eager().write(self._u, normalized(mv(matrix, self._v), self.eps))
            eager().write(self._v, normalized(mv(transpose(matrix, 0, 1), self._u), self.eps))

    def forward(self, weight: Tensor) -> Any:
        if weight.ndim == 1:
            return normalized(weight, self.eps)
        matrix = matrix_of(weight, self.dim)
        if self.training:
            with no_grad():
                self._iterate(matrix.detach(), self.n_power_iterations)
        # The iteration of the next call, before the backward pass of this one, must not change what is kept here.
        u, v = self._u.clone(), self._v.clone()
        return weight / sum(u * mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Let ``module.name`` be divided by its largest singular value, as a matrix whose rows lie along `dim`.

    In training each use makes `n_power_iterations` steps of the estimate. `dim` is 0, or 1 for transposed
    convolutions. ValueError where there is no such tensor. Returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.spectral_norm(tg.nn.Linear(20, 40))
    >>> bool(abs(tg.linalg.norm(layer.weight.detach().t() @ layer.parametrizations.weight[0]._u) - 1) < 0.1)
    True
    """
    if not hasattr(module, name) or getattr(module, name) is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    weight = getattr(module, name)
    dim = spectral_dim(module) if dim is None else dim
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


# --------------------------------------------------------------------------------------------------------- orthogonal


def _is_orthogonal(q: np.ndarray) -> bool:
    error = np.abs(np.swapaxes(q, -2, -1) @ q - np.eye(q.shape[-1], dtype=q.dtype))
    return bool(error.max() < 10 * q.shape[-2] * np.finfo(q.dtype).eps) if error.size else True


def _made_orthogonal(q: np.ndarray) -> np.ndarray:
    """The orthogonal factor, with the signs that make the other one's diagonal positive."""
    made, triangle = np.linalg.qr(q)
    signs = np.sign(np.diagonal(triangle, axis1=-2, axis2=-1))
    return _by_columns(made * np.where(signs == 0, 1, signs)[..., None, :])


def _by_columns(matrix: np.ndarray) -> np.ndarray:
    """The same numbers, column by column in memory, as LAPACK leaves them."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(matrix, -2, -1)), -2, -1)


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Any:
        is_wide = X.shape[-2] < X.shape[-1]
        tall = transpose(X, -2, -1) if is_wide else X
        q = _of_reflections(tall) if self.orthogonal_map == "householder" else self._of_skew(tall)
        if "base" in self._buffers:
            q = matmul(self.base, q)
        return transpose(q, -2, -1) if is_wide else q

    def _of_skew(self, tall: Any) -> Any:
        """The image of a skew-symmetric matrix, by the exponential or Cayley's map."""
        n, k = tall.shape[-2:]
        lower: Any = tril(tall)
        if n != k:
            column: Any = zeros_like(lower)
            lower = cat([lower, column[..., :1].expand(*lower.shape[:-1], n - k)], -1)
        skew = lower - transpose(lower, -2, -1)
        if self.orthogonal_map == "matrix_exp":
            q = linalg.matrix_exp(skew)
        else:
            identity = eye(n, dtype=skew.dtype)
            q = linalg.solve(identity - skew * 0.5, identity + skew * 0.5)
        return narrow(q, -1, 0, k) if n != k else q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.shape[-2] < Q.shape[-1]
        tall: Any = transpose(Q, -2, -1) if is_wide else Q
        if "base" not in self._buffers:
            reflections = self._reflections_of(eager().read(tall, "a right inverse"))
            return transpose(reflections, -2, -1) if is_wide else reflections
        self.base = _completed(tall)
        minus = np.zeros(Q.shape, Q.ndarray.dtype)
        minus[..., np.arange(tall.shape[-1]), np.arange(tall.shape[-1])] = -1
        return make(minus)

    def _reflections_of(self, tall: np.ndarray) -> Tensor:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        packed, tau = np.linalg.qr(tall, mode="raw")
        reflections = _by_columns(np.array(np.swapaxes(packed, -2, -1)))
        at = np.arange(tau.shape[-1])
        signs = np.sign(reflections[..., at, at])
        reflections[..., at, at] = np.where(tau == 0, -signs, signs)
        return make(reflections)


def _completed(tall: Any) -> Tensor:
    """An orthogonal matrix that begins with the columns of `tall`, made orthogonal where they are not."""
    n, k = tall.shape[-2:]
    if n == k:
        numbers = eager().read(tall, "a right inverse")
        return make(numbers.copy(order="K") if _is_orthogonal(numbers) else _made_orthogonal(numbers))
    more = tall.new_empty(*tall.shape[:-2], n, n - k).normal_()
    return make(_made_orthogonal(eager().read(cat([tall, more], -1), "a right inverse")))


def _of_reflections(tall: Any) -> Any:
    """The first columns of the product of reflections, whose vectors are below the diagonal; signs on the diagonal."""
    n, k = tall.shape[-2:]
    vectors = tril(tall, -1) + eye(n, k, dtype=tall.dtype)
    scale = 2.0 / sum(vectors * vectors, -2)
    q = eye(n, k, dtype=tall.dtype).expand(*tall.shape)
    for i in reversed(range(k)):
        v = narrow(vectors, -1, i, 1)
        q = q - v * matmul(transpose(v, -2, -1), q) * unsqueeze(unsqueeze(scale[..., i], -1), -1)
    return q * unsqueeze(diagonal(tall.detach(), dim1=-2, dim2=-1).int(), -2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Let the matrix ``module.name`` (or each of a batch) have orthogonal columns, or rows where it is wide.

    `orthogonal_map` is "matrix_exp" (for square ones unless given), "cayley" or "householder" (for others). With
    `use_trivialization` the map starts at a buffer, `base`, and any orthogonal matrix can be assigned. ValueError for
    fewer than two dimensions, or another map. Returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.orthogonal(tg.nn.Linear(2, 4))
    >>> tg.allclose(layer.weight.t() @ layer.weight, tg.eye(2), atol=1e-6)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
