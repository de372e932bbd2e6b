"""Parameters that are computed of others: ``register_parametrization`` and what belongs to it.

A module with parametrized tensors gets a class of its own, in which these are properties: reading one computes it,
assigning to one goes through the parametrizations' ``right_inverse``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ...tape.grad_mode import no_grad
from ...tensors.meta.meta_tensor import any_meta, without_numbers
from ...tensors.tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter
from .parametrization_cache import cache

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class cached:
    """A context within which each parametrized tensor is computed once; what is changed meanwhile is not seen.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> with tg.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """

    def __enter__(self) -> None:
        cache.enter()

    def __exit__(self, *exc_info: object) -> None:
        cache.leave()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _store(target: Tensor, value: Tensor) -> None:
    """Give `target` the memory of `value`."""
    with no_grad():
        target.data = value.detach().clone() if value.buffer is not target.buffer else value.detach()


def _inverted(modules: Sequence[Any], value: Any) -> Any:
    """What the last ones' inverses make of `value`, where they have any."""
    with no_grad():
        for module in reversed(modules):
            if hasattr(module, "right_inverse"):
                try:
                    inverse = module.right_inverse
                    value = without_numbers(inverse, value) if any_meta((value,)) else inverse(value)
                except NotImplementedError:
                    continue
    return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what it is computed of: `original`, or `original0`, `original1`, ...

    It is ``module.parametrizations[name]``, a list of modules that are applied one after the other when it is called.
    Made by ``register_parametrization``. ValueError or RuntimeError, unless `unsafe`, for parametrizations that change
    shape or dtype.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> parts = layer.parametrizations.weight
    >>> len(parts), parts.original0.shape, parts.original1.shape
    (1, tracegrad.Size([2, 1]), tracegrad.Size([2, 3]))
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = _inverted(list(self), original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_result(self(), shape, dtype)

    def _keep_one(self, original: Tensor, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        _store(original, new)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for i, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            _register(self, f"original{i}", part.requires_grad_(original.requires_grad))

    def right_inverse(self, value: Any) -> None:
        """Keep what the parametrized tensor becomes `value` by; RuntimeError for a parametrization without inverse."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                    f"{self.original.dtype}"
                )
            _store(self.original, value)
            return
        if not isinstance(value, Sequence) or len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got "
                f"{f'a sequence of length {len(value)}' if isinstance(value, Sequence) else type(value).__name__}."
            )
        for i, part in enumerate(value):
            _store(self._checked(i, part), part)

    def _checked(self, i: int, part: Any) -> Tensor:
        kept: Tensor = getattr(self, f"original{i}")
        if not isinstance(part, Tensor):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got element {i} of type {type(part).__name__}."
            )
        if kept.dtype != part.dtype:
            raise ValueError(
                f"Tensor {i} returned by `right_inverse` has dtype {part.dtype} while `original{i}` has dtype "
                f"{kept.dtype}"
            )
        return kept

    def forward(self) -> Any:
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        first, *others = self._members()
        value = first(*[getattr(self, name) for name in names])
        for module in others:
            value = module(value)
        return value


def _check_result(value: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for what, before, after in (("dtype", dtype, value.dtype), ("shape", shape, value.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
            )


# ------------------------------------------------------------------------------------------------- classes of modules


def _getstate(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\nhttps://pytorch.org/"
        "tutorials/beginner/saving_loading_models.html#saving-loading-a-general-checkpoint-for-inference-and-or-"
        "resuming-training"
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """A copy with a class of its own, so that what is parametrized there later is not so here."""
    if id(self) in memo:
        return memo[id(self)]
    kind: Any = type(self).__bases__[0]
    replica = memo[id(self)] = kind.__new__(kind)
    replica.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
    _give_class(replica)
    for name in replica.parametrizations:
        _give_property(replica, name)
    return replica


def _give_class(module: Module) -> None:
    kind: Any = type(module)
    members: dict[str, Any] = {"__getstate__": _getstate, "_parametrized_from": kind}
    if not any("__deepcopy__" in vars(base) for base in kind.__mro__ if base is not Module):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _give_property(module: Any, name: str) -> None:
    def computed(self: Any) -> Any:
        return cache.found((id(self), name), self.parametrizations[name])

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(computed, assign))


# -------------------------------------------------------------------------------------------------------- functions


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let ``module.tensor_name`` be what `parametrization` computes of the present tensor; returns the module.

    Several on one tensor follow one another. A ``right_inverse`` gives what is kept of the present numbers: a tensor,
    or several. ValueError where dtype or shape change (unless `unsafe`), or the module has no such tensor.

    >>> import tracegrad as tg
    >>> class Symmetric(tg.nn.Module):
    ...     def forward(self, x):
    ...         return x + x.t()
    >>> layer = tg.nn.utils.parametrize.register_parametrization(tg.nn.Linear(2, 2), "weight", Symmetric())
    >>> tg.equal(layer.weight, layer.weight.t()), [name for name, _ in layer.named_parameters()]
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        kept: Any = module.parametrizations[tensor_name]
        if not unsafe:
            _check_further(getattr(module, tensor_name), parametrization)
        kept.append(parametrization)
        kept.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        kept = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = kept
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(before: Tensor, parametrization: Any) -> None:
    """One more parametrization, and its inverse, keep dtype and shape."""
    after = parametrization(before)
    _check_result(after, before.shape, before.dtype)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what, old, new in (("dtype", before.dtype, back.dtype), ("shape", before.shape, back.shape)):
        if old != new:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.tensor_name, unless the `unsafe` flag is enabled.\nmodule.tensor_name: {old}\n"
                f"returned {what}: {new}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module itself has parametrized tensors, or one of the name `tensor_name`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> [tg.nn.utils.parametrize.is_parametrized(layer, name) for name in (None, "weight", "bias")]
    [True, True, False]
    """
    table = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(table, ModuleDict):
        return False
    return bool(len(table)) if tensor_name is None else tensor_name in table


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make ``module.tensor_name`` a parameter or buffer again: with its present numbers, or, with
    ``leave_parametrized=False``, the original's; returns the module.

    ValueError where it is not parametrized, and for ``leave_parametrized=False`` where it is computed of several
    originals.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> list(tg.nn.utils.parametrize.remove_parametrizations(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    kept: Any = module.parametrizations[tensor_name]
    if not kept.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    value = getattr(module, tensor_name)
    if not kept.is_tensor:
        original = Parameter(value.detach().clone()) if value.requires_grad else value
    else:
        original = kept.original
        if leave_parametrized:
            _store(original, value)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class without what ``register_parametrization`` has made of it.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> type(layer).__name__, tg.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize `to_module` as `from_module` is (the tensor `tensor_name`, or all), with its parameters; returns
    `to_module`.

    >>> import tracegrad as tg
    >>> source = tg.nn.utils.parametrizations.weight_norm(tg.nn.Linear(3, 2))
    >>> layer = tg.nn.utils.parametrize.transfer_parametrizations_and_params(source, tg.nn.Linear(3, 2))
    >>> tg.equal(layer.weight, source.weight)
    True
    """
    if not is_parametrized(from_module):
        return to_module
    table: Any = from_module.parametrizations
    for name in table if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in table[name]:
            register_parametrization(to_module, name, parametrization)
        if table[name].is_tensor:
            to_module.parametrizations[name].original = table[name].original
        else:
            for i in range(table[name].ntensors):
                setattr(to_module.parametrizations[name], f"original{i}", getattr(table[name], f"original{i}"))
    return to_module
