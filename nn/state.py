"""Saving and loading what a module holds: ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..ops.array import eager
from ..ops.pointwise import cast
from ..tape.grad_mode import no_grad
from ..tensors.foreign.values import as_own
from ..tensors.meta.memory import NO_DATA
from ..tensors.meta.meta_tensor import is_meta
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from .calls.state_hooks import hooks_of
from .parameter import Parameter, is_lazy
from .rollback import is_overridden, unchanged_on_error

#: The key of what ``get_extra_state`` gives, behind the module's prefix.
EXTRA = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_Keys):
    """What ``load_state_dict`` did not find, and what it did not know."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


class Errors(list[str]):
    """What does not fit, and what is to be stored once it is known that all fits.

    ``_load_from_state_dict`` passes the list on under PyTorch's name `error_msgs`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stores: list[Callable[[], None]] = []
        self.given_extra: set[int] = set()  # ids of the modules whose `set_extra_state` was called


@dataclass
class Report:
    """What went wrong while a state was loaded."""

    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    errors: Errors = field(default_factory=Errors)

    def keys(self) -> IncompatibleKeys:
        return IncompatibleKeys(self.missing, self.unexpected)

    def lines(self, strict: bool) -> list[str]:
        """The lines of the error; without `strict`, keys that are missing or unexpected are none."""
        named = {"Missing": self.missing, "Unexpected": self.unexpected} if strict else {}
        return [_keys_line(what, keys) for what, keys in named.items() if keys] + self.errors


def _keys_line(what: str, keys: list[str]) -> str:
    quoted = ", ".join(f'"{key}"' for key in keys)
    return f"{what} key(s) in state_dict: {quoted}. "


def own_state(module: Any) -> Iterator[tuple[str, Tensor]]:
    """The module's own parameters and persistent buffers."""
    for name, tensor in (*module._parameters.items(), *module._buffers.items()):
        if tensor is not None and name not in module._non_persistent_buffers_set:
            yield name, tensor


def collect(module: Any, into: Any, prefix: str, keep_vars: bool) -> Any:
    """Put the state of `module` and all below it into a dict, each name behind `prefix`; the dict, or a hook's."""
    metadata = {"version": module._version}
    if hasattr(into, "_metadata"):
        into._metadata[prefix[:-1]] = metadata
    for hook in hooks_of(module, "_state_dict_pre_hooks"):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(into, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=into, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in hooks_of(module, "_state_dict_hooks"):
        given = hook(module, into, prefix, metadata)
        if given is not None and getattr(hook, "_from_public_api", False):
            raise RuntimeError("state_dict post-hook must return None; change the dict in place")
        into = into if given is None else given
    return into


def collect_own(module: Any, into: dict[str, Any], prefix: str, keep_vars: bool) -> None:
    """Put the state of `module` alone into a dict."""
    for name, tensor in own_state(module):
        into[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
    if is_overridden(module, "get_extra_state"):
        into[prefix + EXTRA] = module.get_extra_state()


def load(module: Any, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Copy `state` into the module's memory, or change nothing and raise.

    All is checked and converted first, then stored, which cannot fail. Only where classes bring code of their own is
    the module kept beforehand, and put back when this code raises.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    metadata = getattr(state, "_metadata", None) or {}
    report, values = Report(), OrderedDict((name, as_own(value)) for name, value in state.items())

    def load() -> None:
        _plan_tree(module, values, "", {key: dict(kept) for key, kept in metadata.items()}, assign, report)
        lines = report.lines(strict)
        if lines:
            raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {type(module).__name__}:", *lines]))
        _store(report)

    with no_grad():
        unchanged_on_error(module, load, report.errors.given_extra)
    return report.keys()


def _plan_tree(
    module: Any, state: dict[str, Any], prefix: str, metadata: dict[str, Any], assign: bool, report: Report
) -> None:
    local = metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local, True, report.missing, report.unexpected, report.errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {key: value for key, value in state.items() if key.startswith(below)}
            _plan_tree(child, part, below, metadata, assign, report)
    after = hooks_of(module, "_load_state_dict_post_hooks")
    if after:
        _store(report)  # hooks look at what is loaded; where an error follows, all is put back
    for hook in after:
        if hook(module, report.keys()) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _store(report: Report) -> None:
    """Store what waits for the end of the checks."""
    stores, report.errors.stores = report.errors.stores, []
    for store in stores:
        store()


def load_own(module: Any, state: dict[str, Any], prefix: str, assign: bool, report: Report, errors: list[str]) -> None:
    """The part of `module` alone, which waits for the rest of the tree if `errors` can hold it.

    A class with a ``_load_from_state_dict`` of its own may look at the numbers after it called the library's, and a
    caller that passes a plain list does not wait: they get what fits at once.
    """
    if isinstance(errors, Errors):
        report.errors.given_extra = errors.given_extra
    plan_own(module, state, prefix, assign, report)
    if isinstance(errors, Errors) and not is_overridden(module, "_load_from_state_dict"):
        errors.stores += report.errors.stores
    else:
        with no_grad():
            for store in report.errors.stores:
                store()
    errors.extend(report.errors)


def plan_own(module: Any, state: dict[str, Any], prefix: str, assign: bool, report: Report) -> None:
    """Check what `state` has for `module` alone, and note what is to be stored."""
    own = dict(own_state(module))
    for name, tensor in own.items():
        key = prefix + name
        if key not in state:
            report.missing.append(key)
            continue
        store = _planned(module, name, key, tensor, state[key], assign, report)
        if store is not None:
            report.errors.stores.append(store)
    known = _plan_extra(module, state, prefix + EXTRA, report)
    for key in state:
        if key.startswith(prefix) and key != known:
            first, *below = key[len(prefix) :].split(".")
            if first not in (module._modules if below else own):
                report.unexpected.append(key)


def _plan_extra(module: Any, state: dict[str, Any], key: str, report: Report) -> str | None:
    """The key of the extra state, if the module has any."""
    if not is_overridden(module, "set_extra_state"):
        return None
    if key in state:
        report.errors.stores.append(lambda: _give_extra(module, state[key], report))
    else:
        report.missing.append(key)
    return key


def _give_extra(module: Any, extra: Any, report: Report) -> None:
    report.errors.given_extra.add(id(module))
    module.set_extra_state(extra)


def _planned(
    module: Any, name: str, key: str, tensor: Tensor, value: Any, assign: bool, report: Report
) -> Callable[[], None] | None:
    """What stores `value`, which is converted now; None, with a line in the report, if it does not fit."""
    if not isinstance(value, Tensor):
        report.errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
        return None
    if is_lazy(tensor):
        return None if is_lazy(value) else _materialization(module, name, tensor, value, assign)
    if tensor.shape == () and value.shape == (1,):
        value = value[0]  # as PyTorch before 0.4 saved numbers
    if value.shape != tensor.shape:
        report.errors.append(
            f"size mismatch for {key}: copying a param with shape {value.shape!r} from checkpoint, "
            f"the shape in current model is {tensor.shape!r}."
        )
        return None
    if is_meta(tensor) and not is_meta(value) and not assign:
        warn_user(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
            "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
            "corresponding key in the module instead of copying them in place?)"
        )
    try:
        return _assignment(module, name, tensor, value) if assign else _copy(tensor, value)
    except Exception as error:
        report.errors.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.shape!r} and whose '
            f"dimensions in the checkpoint are {value.shape!r}, an exception occurred : {error.args}."
        )
        return None


def _materialization(module: Any, name: str, tensor: Any, value: Tensor, assign: bool) -> Callable[[], None]:
    """What gives a tensor without a shape that of `value`, and its numbers."""

    def store() -> None:
        tensor.materialize(value.shape)
        (_assignment(module, name, tensor, value) if assign else _copy(tensor, value))()

    return store


def _assignment(module: Any, name: str, tensor: Tensor, value: Tensor) -> Callable[[], None]:
    if not tensor.is_parameter:
        return lambda: setattr(module, name, value)
    requires_grad = tensor.requires_grad
    kind = Parameter if is_meta(tensor) or is_meta(value) else type(tensor)
    parameter: Tensor = kind(value, requires_grad)
    if not value.is_parameter:
        return lambda: setattr(module, name, parameter)

    def take() -> None:
        value.requires_grad_(requires_grad)
        setattr(module, name, value)

    return take


def _copy(tensor: Tensor, value: Tensor) -> Callable[[], None]:
    if is_meta(value) and not is_meta(tensor):
        raise NotImplementedError(NO_DATA)
    if is_meta(tensor):
        return lambda: None
    if not tensor.ndarray.flags.writeable:
        raise RuntimeError("the memory of the tensor in the model is read-only; clone() it there")
    fitting = value if value.dtype is tensor.dtype else cast(value, tensor.dtype)
    return lambda: eager().write(tensor, fitting)
