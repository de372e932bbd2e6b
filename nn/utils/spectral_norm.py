"""The older spectral norm: a hook before each forward computes the weight."""

from __future__ import annotations

from typing import Any

from ...functional.linear_algebra import mv
from ...functional.reductions import sum
from ...functional.shapes import transpose
from ...ops.array import eager
from ...tape.grad_mode import no_grad
from ..module import Module
from ..parameter import Parameter
from .norms import matrix_of, normalized, spectral_dim, start_vectors

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: the weight is `name` + "_orig" over its largest singular value, by the vectors "_u" and "_v"."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight, after as many steps of the estimate as the hook makes each time, or none."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = matrix_of(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    eager().write(v, normalized(mv(transpose(matrix.detach(), 0, 1), u), self.eps))
                    eager().write(u, normalized(mv(matrix.detach(), v), self.eps))
                u, v = u.clone(), v.clone()
        return weight / sum(u * mv(matrix, v))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def saved(self, module: Any, state: Any, prefix: str, metadata: dict[str, Any]) -> None:
        """A hook of ``state_dict`` that notes the layout's version, as PyTorch does."""
        metadata.setdefault("spectral_norm", {})[f"{self.name}.version"] = self._version


def _hook_of(module: Module, name: str) -> tuple[int, SpectralNorm] | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return key, hook
    return None


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide the parameter `name` by its largest singular value before each forward; kept as `name` + "_orig".

    In training each call makes `n_power_iterations` steps of the estimate (buffers `name` + "_u", "_v", which are
    drawn here). RuntimeError for a second one, ValueError for a parameter that is None. Difference: states that
    PyTorch saved before version 1.0 are not converted. Returns the module.

    >>> import tracegrad as tg
    >>> list(tg.nn.utils.spectral_norm(tg.nn.Linear(3, 2)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, spectral_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        u, v = start_vectors(matrix_of(weight, hook.dim), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    module._register_state_dict_hook(hook.saved)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the parameter `name` (default "weight") one again, with its present numbers; returns the module.

    ValueError where there is no spectral norm.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.spectral_norm(tg.nn.Linear(3, 2))
    >>> list(tg.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = found
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    for suffix in ("", "_u", "_v", "_orig"):
        delattr(module, name + suffix)
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    for key, kept in list(module._state_dict_hooks.items()):
        if kept == hook.saved:
            del module._state_dict_hooks[key]
    return module
