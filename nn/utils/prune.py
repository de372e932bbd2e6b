"""Pruning: parameters of which a mask sets elements to 0 before each forward."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ...functional.joining import cat
from ...functional.reductions import norm
from ...functional.sampling import rand, rand_like
from ...functional.selecting import sort, topk
from ...functional.shapes import reshape
from ...ops.array import eager
from ...ops.pointwise import cast
from ...tensors.creation import ones_like
from ...tensors.tensor import Tensor, make
from ..module import Module
from .pruning import BasePruningMethod, PruningContainer, hook_of, other_axes

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


# ------------------------------------------------------------------------------------------------------------ methods


class Identity(BasePruningMethod):
    """A method by which nothing is pruned: the mask is all ones.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1)
    >>> _ = tg.nn.utils.prune.Identity.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[1., 1.]])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """A method that prunes a number of elements or slices, or a fraction of them."""

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        self.amount: float = amount
        if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1.0):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")

    def count(self, size: int) -> int:
        """How many of `size` are pruned."""
        count: Any = self.amount if isinstance(self.amount, Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return int(count)


def _without(mask: Tensor, indices: Any) -> Tensor:
    """The mask with 0 at these places of its elements."""
    numbers = eager().read(mask, "pruning").copy()
    numbers.reshape(-1)[eager().read(indices, "pruning")] = 0
    return make(numbers)


class RandomUnstructured(_Amount):
    """A method that prunes elements by chance: `amount` of them (an int), or this fraction (a float in [0, 1]).

    TypeError for what is no number, ValueError for one below 0 or too large.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(4, 2)
    >>> _ = tg.nn.utils.prune.RandomUnstructured.apply(layer, "weight", amount=0.5)
    >>> layer.weight_mask.sum()
    tensor(4.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self.count(t.numel())
        return _without(default_mask, topk(reshape(rand_like(t), -1), count)[1]) if count else default_mask


class L1Unstructured(_Amount):
    """A method that prunes the elements nearest to 0: `amount` of them (an int), or this fraction (a float in [0, 1]).

    TypeError for what is no number, ValueError for one below 0 or too large.

    >>> import tracegrad as tg
    >>> tg.nn.utils.prune.L1Unstructured(amount=1).prune(tg.tensor([3.0, -1.0, 2.0]))
    tensor([3., -0., 2.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self.count(t.numel())
        if not count:
            return default_mask
        return _without(default_mask, topk(reshape(t.detach().abs(), -1), count, largest=False)[1])


class _Slices(_Amount):
    """Whole slices along `dim`."""

    PRUNING_TYPE = "structured"
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.ndim} dims"
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self.count(size)
        if not count:
            return default_mask
        along = [size if axis == self.dim % t.ndim else 1 for axis in range(t.ndim)]
        kept = np.asarray(self.kept(t, size, count)).reshape(along)
        return make((kept * eager().read(default_mask, "pruning")).astype(t.ndarray.dtype))

    def kept(self, t: Any, size: int, count: int) -> Any:
        """Which slices stay, if `count` of `size` go."""
        raise NotImplementedError


class RandomStructured(_Slices):
    """A method that prunes slices along `dim` (default -1) by chance: `amount` of them (an int), or this fraction (a
    float in [0, 1]).

    TypeError for what is no number, ValueError for one below 0 or too large and for a tensor of one axis, IndexError
    for an axis that is not there.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(4, 2)
    >>> _ = tg.nn.utils.prune.RandomStructured.apply(layer, "weight", amount=1, dim=1)
    >>> layer.weight_mask.sum(1)
    tensor([3., 3.])
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def kept(self, t: Any, size: int, count: int) -> Any:
        chances = rand(size)
        limit = eager().read(sort(chances)[0], "pruning")[count - 1]
        return eager().read(chances, "pruning") > limit


class LnStructured(_Slices):
    """A method that prunes the slices along `dim` (default -1) of the smallest `n`-norms: `amount` of them (an int), or
    this fraction (a float in [0, 1]).

    `n` is an order as ``norm`` takes it (2, inf, "fro", ...). TypeError for an amount that is no number, ValueError for
    one below 0 or too large and for a tensor of one axis, IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.nn.utils.prune.LnStructured(amount=1, n=2, dim=0).prune(tg.tensor([[3.0, 4.0], [1.0, 1.0]]))
    tensor([[3., 4.],
            [0., 0.]])
    """

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def kept(self, t: Any, size: int, count: int) -> Any:
        norms = norm(t.detach(), self.n, list(other_axes(t, self.dim)))
        kept = np.zeros(size, bool)
        kept[eager().read(topk(norms, size - count)[1], "pruning")] = True
        return kept


class CustomFromMask(BasePruningMethod):
    """A method that prunes what `mask`, of the tensor's shape, has 0 for; AssertionError for another shape.

    >>> import tracegrad as tg
    >>> tg.nn.utils.prune.CustomFromMask(tg.tensor([1, 0])).prune(tg.tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * cast(self.mask, default_mask.dtype)


# ---------------------------------------------------------------------------------------------------------- functions


def identity(module: Module, name: str) -> Module:
    """Make ``module.name`` a pruned parameter of which nothing is pruned; returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.prune.identity(tg.nn.Linear(2, 1), "weight")
    >>> sorted(layer.state_dict())
    ['bias', 'weight_mask', 'weight_orig']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements of ``module.name`` by chance: `amount` of them (an int), or this fraction (a float in [0, 1]);
    returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.prune.random_unstructured(tg.nn.Linear(4, 2), "weight", amount=3)
    >>> (layer.weight == 0).sum()
    tensor(3)
    """
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of ``module.name`` nearest to 0, or of the smallest `importance_scores` (of its shape):
    `amount` of them (an int), or this fraction (a float in [0, 1]); returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1, bias=False)
    >>> _ = tg.nn.init.constant_(layer.weight[:, :1], 5.0)
    >>> tg.nn.utils.prune.l1_unstructured(layer, "weight", 1).weight_mask
    tensor([[1., 0.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices of ``module.name`` along `dim` by chance: `amount` of them (an int), or this fraction (a float in
    [0, 1]); returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.prune.random_structured(tg.nn.Linear(4, 2), "weight", amount=0.25, dim=1)
    >>> layer.weight_mask.sum(1)
    tensor([3., 3.])
    """
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: float | str, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices of ``module.name`` along `dim` whose `n`-norms (or those of `importance_scores`, of its shape)
    are smallest: `amount` of them (an int), or this fraction (a float in [0, 1]); returns the module.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 2)
    >>> _ = tg.nn.init.constant_(layer.weight[:1], 5.0)
    >>> tg.nn.utils.prune.ln_structured(layer, "weight", amount=1, n=2, dim=0).weight_mask
    tensor([[1., 1.],
            [0., 0.]])
    """
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what `mask`, of the shape of ``module.name``, has 0 for; returns the module. AssertionError for another
    shape.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.prune.custom_from_mask(tg.nn.Linear(2, 1), "weight", tg.tensor([[1, 0]]))
    >>> layer.weight[0, 1] == 0
    tensor(True)
    """
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune elements of several parameters, pairs of module and name, as if they were one.

    `pruning_method` is a class like `L1Unstructured`, made with `kwargs` (``amount=...``); `importance_scores` maps
    some of these pairs to scores of the parameter's shape. TypeError for a method that is not "unstructured" and for
    scores in anything but a dict.

    >>> import tracegrad as tg
    >>> prune, layers = tg.nn.utils.prune, [tg.nn.Linear(2, 1), tg.nn.Linear(2, 1)]
    >>> pairs = [(layer, "weight") for layer in layers]
    >>> prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=3)
    >>> sum((layer.weight == 0).sum() for layer in layers)
    tensor(3)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    tensors = [getattr(module, name) for module, name in pairs]
    of_all = [scores.get(pair, tensor).detach() for pair, tensor in zip(pairs, tensors, strict=True)]
    known = [
        getattr(module, f"{name}_mask", None) if hasattr(module, f"{name}_mask") else ones_like(tensor).detach()
        for (module, name), tensor in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = PruningContainer(method).compute_mask(_flat(of_all), _flat(known))
    start = 0
    for (module, name), tensor in zip(pairs, tensors, strict=True):
        part = mask[start : start + tensor.numel()]
        custom_from_mask(module, name, reshape(part, tensor.shape))
        start += tensor.numel()


def _flat(tensors: list[Any]) -> Any:
    return cat([reshape(x, -1) for x in tensors])


def remove(module: Module, name: str) -> Module:
    """Make the pruned numbers of ``module.name`` the parameter's own; returns the module. ValueError where it is not
    pruned.

    >>> import tracegrad as tg
    >>> prune = tg.nn.utils.prune
    >>> layer = prune.random_unstructured(tg.nn.Linear(2, 1), "weight", amount=1)
    >>> sorted(prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    found = hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1)
    >>> tg.nn.utils.prune.is_pruned(layer), tg.nn.utils.prune.is_pruned(tg.nn.utils.prune.identity(layer, "bias"))
    (False, True)
    """
    hooks = (hook for below in module.modules() for hook in below._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
