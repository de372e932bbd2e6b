"""What all ways of pruning share: the mask, the hook that applies it, and several ways one after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...ops.pointwise import cast
from ...tensors.creation import ones_like
from ...tensors.tensor import make

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..module import Module


class BasePruningMethod(ABC):
    """A way of pruning, and the hook that does it. A subclass has `PRUNING_TYPE` ("unstructured": elements that are
    there still, "structured": slices along `dim`, "global": all elements) and `compute_mask`.

    >>> import tracegrad as tg
    >>> class Negative(tg.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         return default_mask * (t >= 0)
    >>> Negative().prune(tg.tensor([1.0, -2.0]))
    tensor([1., -0.])
    """

    PRUNING_TYPE: str
    _tensor_name: str | None = None

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self._tensor_name or "", self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for scores `t`, where `default_mask` says what is pruned already."""

    def apply_mask(self, module: Module) -> Tensor:
        """The present parameter with its mask; AssertionError before `apply`."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, self._tensor_name + suffix) for suffix in ("_mask", "_orig"))
        return cast(mask, original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune ``module.name`` by this method (after others, if there are any); returns the hook.

        The parameter becomes `name` + "_orig", the mask a buffer, `name` + "_mask". AssertionError for scores of
        another shape.
        """
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        _check_scores(scores, original, f"parameter {name} of {module}")
        new = cls(*args, **kwargs)
        new._tensor_name = name
        key, before = hook_of(module, name) or (None, None)
        method: Any = new if before is None else _joined(before, new)
        known = ones_like(original) if before is None else getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores.detach(), default_mask=known.detach())
        if key is not None:
            del module._forward_pre_hooks[key]
        else:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """The tensor `t`, pruned; nothing is registered."""
        scores = t if importance_scores is None else importance_scores
        _check_scores(scores, t, "tensor t")
        known = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=known)

    def remove(self, module: Module) -> None:
        """Make the pruned numbers the parameter's own."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        original = module._parameters[f"{name}_orig"]
        delattr(module, name or "")
        original.data = weight.detach()
        del module._parameters[f"{name}_orig"], module._buffers[f"{name}_mask"]
        setattr(module, name or "", original)


def _check_scores(scores: Any, t: Any, what: str) -> None:
    if scores.shape != t.shape:
        raise AssertionError(f"importance_scores should have the same shape as {what}, got {scores.shape} vs {t.shape}")


def hook_of(module: Any, name: str) -> tuple[int, BasePruningMethod] | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


def _joined(before: BasePruningMethod, new: BasePruningMethod) -> PruningContainer:
    container = PruningContainer(*before) if isinstance(before, PruningContainer) else PruningContainer(before)
    container.add_pruning_method(new)
    return container


class PruningContainer(BasePruningMethod):
    """Methods on one tensor, one after another; the last one decides, of what the others leave.

    It is the hook of a parameter that was pruned more than once, and is iterated and indexed as a list. TypeError for
    what is no method, ValueError for one of another tensor.

    >>> import tracegrad as tg
    >>> prune, layer = tg.nn.utils.prune, tg.nn.Linear(4, 1)
    >>> _ = prune.random_unstructured(prune.random_unstructured(layer, "weight", amount=1), "weight", amount=2)
    >>> (layer.weight == 0).sum()
    tensor(3)
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        self._tensor_name = args[0]._tensor_name if args else None
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add one more; TypeError for what is none, ValueError for one of another tensor."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method = self._pruning_methods[-1]
        mask = eager().read(default_mask, "pruning").astype(t.ndarray.dtype)
        part = _part(method, t, mask)
        scores = make(eager().read(t, "pruning")[part])
        mask[part] = eager().read(method.compute_mask(scores, default_mask=make(mask[part])), "pruning")
        return make(mask)


def _part(method: Any, t: Any, mask: np.ndarray) -> Any:
    """Of what a further method computes a mask."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return ...
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.ndim if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.ndim}")
    return tuple(mask.any(other_axes(t, dim)) if axis == dim else slice(None) for axis in range(t.ndim))


def other_axes(t: Any, dim: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(t.ndim) if axis != dim % t.ndim)
