"""Activations that overwrite their input: ``relu_`` and the like, with the arguments of the plain ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import activations
from ..naming.descriptions import example, headed, text_of
from . import piecewise
from .drawn import rrelu

#: Those that are names of the package itself, too.
_BESIDE = frozenset("relu selu celu threshold rrelu".split())


def _overwriting(function: Callable[..., Any]) -> Callable[..., Any]:
    name = f"{function.__name__}_"

    def overwriting(input: Any, *args: Any, **kwargs: Any) -> Any:
        return function(input, *args, **kwargs, inplace=True)

    overwriting.__name__ = overwriting.__qualname__ = name
    module = "tg" if function.__name__ in _BESIDE else "tg.nn.functional"
    overwriting.__doc__ = headed(
        f"``{function.__name__}(..., inplace=True)``: stored in `input`, which is returned.",
        f"{text_of(function)}\n\n    {example(function, name, False, module)}",
    )
    own = inspect.signature(function)
    parameters = [parameter for parameter in own.parameters.values() if parameter.name != "inplace"]
    overwriting.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return overwriting


relu_ = _overwriting(activations.relu)
elu_ = _overwriting(activations.elu)
selu_ = _overwriting(activations.selu)
celu_ = _overwriting(activations.celu)
leaky_relu_ = _overwriting(activations.leaky_relu)
hardtanh_ = _overwriting(piecewise.hardtanh)
threshold_ = _overwriting(piecewise.threshold)
rrelu_ = _overwriting(rrelu)
