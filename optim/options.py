"""How an optimizer's options are read by a step, and checked where they are given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from ..tensors.tensor import Tensor
from ..tracing.entries import EntryRead
from ..tracing.watch import declare_number, declare_read, watcher
from .numbers import as_float, is_number, one_element


class Options:
    """One group's options for one step, read in a way that recordings keep: numbers as data, choices as guards."""

    def __init__(self, group: dict[str, Any], index: int) -> None:
        self.group = group
        self._where = f"param_groups[{index}]"
        self._numbers: dict[tuple[str, int | None], Any] = {}

    def number(self, key: str, item: int | None = None) -> Any:
        """The option as a number that may change between calls (with `item`: one of a tuple, as in betas)."""
        if (key, item) not in self._numbers:
            value = _option(self.group, key, item)
            name = key if item is None else f"{key}_{item}"
            get = self._reading(key, _number_of, item)
            kind = declare_read(f"{name} as a tensor", self._reading(key, _tensor_of, item))
            self._numbers[key, item] = declare_number(name, get) if kind is None else one_element(key, value)
        return self._numbers[key, item]

    def choice(self, key: str) -> Any:
        """The option as a fact that the program depends on (nesterov, amsgrad, maximize)."""
        return declare_read(f"{self._where}[{key!r}]", self._reading(key, dict.get))

    def is_zero(self, key: str) -> bool:
        """Whether a number is exactly zero, which leaves a term out."""
        return bool(declare_read(f"{self._where}[{key!r}] == 0", self._reading(key, _is_zero)))

    def numbers_of_python(self) -> dict[str, Any]:
        """The group, with Python's numbers where the options are such in eager mode."""
        return self.group

    def _reading(self, key: str, look: Callable[..., Any], *more: Any) -> EntryRead:
        return EntryRead.of(self.group, key, look, self.group, key, *more)


def _option(group: dict[str, Any], key: str, item: int | None) -> Any:
    value = dict.__getitem__(group, key)
    return value if item is None else value[item]


def _number_of(group: dict[str, Any], key: str, item: int | None) -> float:
    return as_float(key, _option(group, key, item))


def _tensor_of(group: dict[str, Any], key: str, item: int | None) -> Tensor | None:
    value = _option(group, key, item)
    return value if isinstance(value, Tensor) else None


def _is_zero(group: dict[str, Any], key: str) -> bool:
    value = dict.get(group, key)
    return not (isinstance(value, Tensor) or value != 0)


def add_options(group: dict[str, Any], later: Mapping[str, Any]) -> None:
    """Give a group those of the options that it does not have."""
    for key, value in later.items():
        if not dict.__contains__(group, key):
            group[key] = value


def require_options(group: dict[str, Any], names: Set[str]) -> None:
    """KeyError for a group that lacks one of these, as a loaded one may."""
    if not dict.keys(group) >= names:
        raise KeyError(min(names - dict.keys(group)))
    if watcher() is not None:
        for key in sorted(names):
            declare_read(f"whether {key!r} is there", EntryRead.of(group, key, dict.__contains__, group, key))


def presumption(
    group: dict[str, Any], index: int, ranges: Mapping[str, tuple[float, float]] | None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What makes of an update one that tells a recording that none of its numbers is refused, where the options are
    within `ranges`; this is guarded."""
    recording = watcher()
    if recording is None or ranges is None:
        return _as_it_is
    reads = {key: EntryRead.of(group, key, _is_within, group, key, *ends) for key, ends in ranges.items()}
    within = [declare_read(f"range of param_groups[{index}][{key!r}]", read) for key, read in reads.items()]
    return functools.partial(functools.partial, recording.number_checks.presume) if all(within) else _as_it_is


def _as_it_is(update: Callable[..., Any]) -> Callable[..., Any]:
    return update


def are_within(group: dict[str, Any], ranges: Mapping[str, tuple[float, float]] | None) -> bool:
    """Whether the options are within `ranges`; True where nothing is known of them."""
    return ranges is None or all(_is_within(group, key, *ends) for key, ends in ranges.items())


def _is_within(group: dict[str, Any], key: str, low: float, high: float) -> bool:
    value = dict.get(group, key)
    values = value if isinstance(value, (tuple, list)) else (value,)
    return all(is_number(each) and low <= each < high for each in values)  # a large int has no float


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """RuntimeError in PyTorch's words for choices that contradict ``fused=True``."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`; leave one of them out")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_fused_parameter(options: Options, p: Tensor) -> None:
    """RuntimeError in PyTorch's words for a complex parameter, which ``fused=True`` cannot update."""
    if options.choice("fused") and p.dtype.is_complex:
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported devices: "
            f"['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but {p.dtype} and cpu"
        )


def _compared(option: Any) -> Any:
    """What is compared with the ends of an option's range, which raises what Python does for what is no number."""
    return float(option) if isinstance(option, Tensor) else option


def check_at_least_zero(**numbers: Any) -> None:
    """ValueError in PyTorch's words for a negative (or NaN) option; a rate may be a tensor with one element."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in numbers.items():
        if isinstance(value, Tensor) and value.ndarray.size != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not _compared(value) >= 0.0:
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}; it must be at least 0")


def check_lr(lr: Any) -> None:
    """ValueError in the words of PyTorch's later optimizers for a rate below 0, or a tensor of several."""
    if isinstance(lr, Tensor) and lr.ndarray.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not _compared(lr) >= 0.0:
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")


def check_betas(betas: Sequence[Any]) -> None:
    """ValueError in PyTorch's words for a beta outside of [0, 1)."""
    for i, beta in enumerate(betas):
        if isinstance(beta, Tensor) and beta.ndarray.size != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
        if not 0.0 <= _compared(beta) < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}; it must be in [0, 1)")


def check_kinds_of_betas(betas: Sequence[Any], foreach: bool | None, capturable: bool) -> None:
    """ValueError in PyTorch's words unless both are floats or both tensors with one element."""
    if not any(all(isinstance(beta, kind) for beta in betas[:2]) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas[:2]):
        if isinstance(beta, Tensor) and foreach and not capturable:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(beta, Tensor) and beta.ndarray.size != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


def check_capturable(options: Options, captured: str) -> None:
    """AssertionError, which names what is `captured`, as of PyTorch on a CPU: a device's graph needs that device."""
    if options.choice("capturable"):
        raise AssertionError(
            f"If capturable=True, {captured} must be on supported devices: ['cuda', 'xpu', 'hpu', 'xla']. "
            "The parameters are on the CPU; leave capturable out."
        )
