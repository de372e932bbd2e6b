"""Which layer an error comes from: looked for when there is one, so that calls pay nothing for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from ...ops.array import Array
from ...ops.types import get_default_dtype
from ...tracing.tracebacks import entries_of, line_of_user, note
from ...tracing.watch import watched

#: The attribute of an error that tells which of its notes names the layer.
NOTED = "_layer_note"

_LONGEST = 160  # characters of what describes one value, or the options of a layer
_SHOWN = 8  # values


def locate(error: Exception, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], code: CodeType) -> None:
    """Note behind the message of `error` which layer was called with what, unless an inner layer has done so.

    `code` is that of the method in which each module on the way has its frame. Nothing that goes wrong here (in a
    `__repr__` of the program, for instance) takes the place of the error itself.
    """
    if any(entry.tb_frame.f_code is code for entry in list(entries_of(error))[1:]):
        return
    with suppress(Exception):
        watched(None, _add_note, error, _called(code), args, kwargs)


def _add_note(error: Exception, modules: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    line = line_of_user(error)
    text = f"  in {described_layer(modules)} got {_values(args, kwargs)}" + (f"\n  at {line}" if line else "")
    earlier = error.__dict__.pop(NOTED, None)  # the same object, raised a second time from elsewhere
    if earlier is not None and earlier in getattr(error, "__notes__", ()):
        error.__notes__.remove(earlier)  # type: ignore[attr-defined]
    note(error, text)
    error.__dict__[NOTED] = text


def layer_now(code: CodeType) -> Callable[[], str]:
    """A function that names the layer in whose call this thread is now."""
    modules = _called(code)
    return partial(described_layer, modules) if modules else str


def described_layer(modules: Sequence[Any]) -> str:
    """``Net.body.2: Linear(in_features=32, ...)`` for modules that call each other, the outermost first."""
    layer = f"{type(modules[-1]).__name__}({_options(modules[-1])})"
    return layer if len(modules) == 1 else f"{path_of(modules)}: {layer}"


def _called(code: CodeType) -> list[Any]:
    """The modules whose calls this thread is in, the outermost first; a module that hands a call on is one."""
    frame: FrameType | None = sys._getframe(1)
    modules: list[Any] = []
    while frame is not None:
        if frame.f_code is code:
            module = frame.f_locals["self"]
            if not modules or modules[-1] is not module:
                modules.append(module)
        frame = frame.f_back
    return modules[::-1]


def path_of(modules: Sequence[Any]) -> str:
    """The path of the last one: class of the first, then the attributes that lead from each to the next."""
    path = type(modules[0]).__name__
    for outer, inner in pairwise(modules):
        names = list(_names_within(outer, inner))
        path += names[0] if names else f" > {type(inner).__name__}"
        if inner is modules[-1] and len(names) > 1:
            path += f" (also {', '.join(name.lstrip('.') for name in names[1:])})"
    return path


def _names_within(outer: Any, inner: Any) -> Iterator[str]:
    """All the ways in which `outer` has `inner`: as a submodule, or in an attribute that is a list or a dict."""
    for path, module in outer.named_modules():
        for name, child in module._modules.items():
            if child is inner:
                yield f".{path}.{name}" if path else f".{name}"
    for name, value in vars(outer).items():
        if isinstance(value, Mapping) and not name.startswith("_"):
            yield from (f".{name}[{key!r}]" for key, item in value.items() if item is inner)
        elif isinstance(value, (list, tuple)):
            yield from (f".{name}[{i}]" for i, item in enumerate(value) if item is inner)


def _options(module: Any) -> str:
    try:
        return _shortened(module.extra_repr())
    except Exception:  # the program's own
        return "..."


def _values(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    shown = [_value(arg) for arg in args] + [f"{name}={_value(arg)}" for name, arg in kwargs.items()]
    return _listed(shown) or "no arguments"


def _listed(shown: Sequence[str]) -> str:
    return ", ".join([*shown[:_SHOWN], *["..."][: len(shown) - _SHOWN]] if len(shown) > _SHOWN else shown)


def _value(value: Any) -> str:
    """A tensor as its shape (and type, unless it is the default one); other values as they are printed, if short."""
    if isinstance(value, Array):
        kind = value.type_.dtype
        return f"{list(value.type_.shape)}" + ("" if kind is get_default_dtype() else f" {kind.name}")
    if type(value) in (tuple, list):
        inner = _listed([_value(item) for item in value])
        return f"({inner})" if type(value) is tuple else f"[{inner}]"
    if value is None or isinstance(value, (bool, int, float, str)):
        return _shortened(repr(value))
    return type(value).__name__


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
