"""Saving and loading what a module holds: ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..autograd.grad_mode import no_grad
from ..autograd.tensor import Tensor
from ..ops.array import eager
from ..ops.pointwise import cast


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_Keys):
    """What ``load_state_dict`` did not find, and what it did not know."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


@dataclass
class Report:
    """What went wrong while a state was loaded."""

    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

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


def collect(module: Any, into: OrderedDict[str, Any], prefix: str, keep_vars: bool) -> None:
    """Put the state of `module` and all below it into a dict, each name behind `prefix`."""
    for name, tensor in own_state(module):
        into[prefix + name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=into, prefix=f"{prefix}{name}.", keep_vars=keep_vars)


def load(module: Any, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Copy `state` into the module's memory. All that fits is loaded before an error is raised."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    report = Report()
    with no_grad():
        _load_tree(module, state, "", assign, report)
    lines = report.lines(strict)
    if lines:
        raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {type(module).__name__}:", *lines]))
    return report.keys()


def _load_tree(module: Any, state: Mapping[str, Any], prefix: str, assign: bool, report: Report) -> None:
    own = dict(own_state(module))
    for name, tensor in own.items():
        if prefix + name not in state:
            report.missing.append(prefix + name)
        elif _fits(prefix + name, tensor, state[prefix + name], report):
            _store(module, name, tensor, state[prefix + name], assign)
    for key in state:
        if key.startswith(prefix):
            first, *below = key[len(prefix) :].split(".")
            if first not in (module._modules if below else own):
                report.unexpected.append(key)
    for name, child in module._modules.items():
        if child is not None:
            _load_tree(child, state, f"{prefix}{name}.", assign, report)


def _fits(key: str, tensor: Tensor, value: Any, report: Report) -> bool:
    if not isinstance(value, Tensor):
        report.errors.append(
            f'While copying the parameter named "{key}", expected a Tensor from checkpoint but received {type(value)}'
        )
        return False
    if value.shape != tensor.shape:
        report.errors.append(
            f"size mismatch for {key}: copying a param with shape {value.shape!r} from checkpoint, "
            f"the shape in current model is {tensor.shape!r}."
        )
        return False
    return True


def _store(module: Any, name: str, tensor: Tensor, value: Tensor, assign: bool) -> None:
    if assign:
        kept = value if not tensor.is_parameter or value.is_parameter else type(tensor)(value, tensor.requires_grad)
        setattr(module, name, kept)
        return
    fitting = value if value.dtype is tensor.dtype else cast(value, tensor.dtype)
    eager().write(tensor, fitting)
