"""``tracegrad.jit``: PyTorch's TorchScript by name. Functions and modules stay what they are; nothing is translated.

Difference: PyTorch compiles the program's text; here ``script`` and ``trace`` return what they are given, which runs as
Python does. `tracegrad.compile` is what compiles. Files of TorchScript are not written or read.
"""

from __future__ import annotations

import builtins
import os
import typing
from collections.abc import Callable
from contextlib import nullcontext, suppress
from types import FunctionType
from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakSet

from ..nn.module import Module
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user

T = TypeVar("T")

_NO_FILES = "TorchScript files are not there: use tg.save(model.state_dict(), path), and load that into a model"


def _deprecated(name: str) -> None:
    message = f"`torch.jit.{name}` is deprecated. Please switch to `torch.compile` or `torch.export`."
    warn_user(message, DeprecationWarning)


#: What `script` and `trace` were given: instances of PyTorch's classes for what these make.
_scripted: WeakSet[Any] = WeakSet()


def _marked(obj: T) -> T:
    with suppress(TypeError):  # what cannot be referred to weakly is no function and no module
        _scripted.add(obj)
    return obj


def script(obj: T, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> T:
    """`obj`, a function, class or module, as it is: it runs as Python does.

    There is PyTorch's DeprecationWarning.
    """
    _deprecated("script")
    return _marked(obj)


def trace(func: T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> T:
    """`func`, a function or module, as it is. It is called once with `example_inputs`, so that errors come at once."""
    _deprecated("trace")
    inputs = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    if example_inputs is not None:
        func(*inputs)  # type: ignore[operator]
    return _marked(func)


def trace_module(mod: T, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> T:
    """`mod` as it is. The methods named in `inputs` are called once with what is there for them."""
    _deprecated("trace_module")
    for name, given in inputs.items():
        getattr(mod, name)(*(given if isinstance(given, tuple) else (given,)))
    return _marked(mod)


def script_if_tracing(fn: T) -> T:
    """`fn` as it is."""
    return fn


def export(fn: T) -> T:
    """`fn` as it is."""
    return fn


def unused(fn: T) -> T:
    """`fn` as it is."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The decorated function as it is; also with arguments in brackets."""
    return drop if callable(drop) else (lambda fn: fn)


def interface(obj: T) -> T:
    """`obj` as it is."""
    return obj


def is_scripting() -> bool:
    """False: Python runs."""
    return False


def is_tracing() -> bool:
    """False: Python runs."""
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """`the_value`."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a class; of ``List[int]`` and the like, whether it is a list."""
    kinds = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    plain: Any = tuple(typing.get_origin(kind) or kind for kind in kinds)
    return builtins.isinstance(obj, plain)


class Attribute(NamedTuple):
    """A value with its type, for ``__init__`` of a scripted module."""

    value: Any
    type: Any


class _MadeByScript(type):
    """A class whose instances are, besides its own, what `script` and `trace` were given of its `_kind`."""

    def __instancecheck__(cls: Any, instance: object) -> bool:
        made = type.__instancecheck__(cls, instance)
        kind = vars(cls).get("_kind", ())  # subclasses of the program's have none of their own
        return made or (builtins.isinstance(instance, kind) and instance in _scripted)


class ScriptModule(Module, metaclass=_MadeByScript):
    """A module, for subclasses of PyTorch's; its methods run as Python does. Modules that `script` or `trace` were
    given are instances of it."""

    _kind = Module

    def save(self, f: Any, **kwargs: Any) -> None:
        """NotImplementedError: files of TorchScript are not written."""
        raise NotImplementedError(_NO_FILES)


class RecursiveScriptModule(ScriptModule):
    """What PyTorch's ``script`` makes of a module: here, the module that it was given."""

    _kind = Module


class ScriptFunction(metaclass=_MadeByScript):
    """What PyTorch's ``script`` makes of a function: here, the function that it was given."""

    _kind = FunctionType


def script_method(fn: T) -> T:
    """`fn` as it is."""
    return fn


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """NotImplementedError: files of TorchScript are not written."""
    raise NotImplementedError(_NO_FILES)


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """NotImplementedError: files of TorchScript are not read. ValueError for a path where there is none."""
    _deprecated("load")
    if builtins.isinstance(f, (str, os.PathLike)):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {os.fspath(f)} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {os.fspath(f)} is a directory")
    raise NotImplementedError(_NO_FILES)


def freeze(mod: Module, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Module:
    """A `ScriptModule` as it is. RuntimeError for any other module, or while it is training, as in PyTorch."""
    _deprecated("freeze")
    if not builtins.isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use script or trace to script your 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    return mod


def optimize_for_inference(mod: Module, other_methods: Any = None) -> Module:
    """`mod` as it is."""
    return mod


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``func(*args)``, called at once; `wait` returns its result."""
    return _Done(func(*args, **kwargs))


class _Done:
    def __init__(self, value: Any) -> None:
        self._value = value

    def wait(self) -> Any:
        """The result."""
        return self._value


def wait(future: Any) -> Any:
    """The result of `fork`."""
    return future.wait()


def optimized_execution(should_optimize: bool) -> nullcontext[None]:
    """A block that means nothing: Python runs."""
    return nullcontext()


def fuser(name: str) -> nullcontext[None]:
    """A block that means nothing: Python runs."""
    return nullcontext()


_onednn = [False]


def enable_onednn_fusion(enabled: bool) -> None:
    """Keep a switch; nothing depends on it."""
    _onednn[0] = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """The switch's value."""
    return _onednn[0]


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """Nothing is fused by it: an empty list, as what was set before."""
    return []


def enable_fusion(enabled: bool) -> None:
    """Nothing is fused by it."""


__all__ = [
    "Attribute", "Final", "RecursiveScriptModule", "ScriptFunction", "ScriptModule", "Tensor", "annotate",
    "enable_fusion", "enable_onednn_fusion", "export", "fork", "freeze", "fuser", "ignore", "interface", "is_scripting",
    "is_tracing", "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution",
    "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip
