"""The older weight norm: a hook before each forward computes the weight."""

from __future__ import annotations

from typing import Any

from ...tracing.user_warning import warn_user
from ..module import Module
from ..parameter import Parameter
from .norms import norm_except

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: the weight as a length (`name` + "_g") times a direction (`name` + "_v")."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight for the present length and direction."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hook_of(module: Module, name: str) -> tuple[int, WeightNorm] | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key, hook
    return None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Replace the parameter `name` by `name` + "_g", a length for each slice along `dim`, and "_v", directions.

    A hook computes the weight before each forward. One length for all for None. RuntimeError for a second one.
    ``parametrizations.weight_norm`` is the newer form. Returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.weight_norm(tg.nn.Linear(3, 2))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
    [('bias', (2,)), ('weight_g', (2, 1)), ('weight_v', (2, 3))]
    """
    warn_user(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight, hook.dim).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the parameter `name` (default "weight") one again, with its present numbers; returns the module.

    ValueError where there is no weight norm.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.weight_norm(tg.nn.Linear(3, 2))
    >>> list(tg.nn.utils.remove_weight_norm(layer).state_dict())
    ['bias', 'weight']
    """
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    key, hook = found
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    return module
