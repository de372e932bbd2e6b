"""Autocast: which functions compute in a shorter floating-point type, and which in float32, while it is switched on.

The lists are PyTorch's for the CPU. A function is named here by its decorator: `lower_precision`, `full_precision` or
`widest_type`; what it calls is not cast again. The casts are ordinary ops, so a recording sees them as it sees any.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..ops.core import current
from ..ops.pointwise import cast
from ..ops.types import DType, bfloat16, float16, float32, float64
from ..tape.grad_mode import is_recording
from .tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])

#: The type that each kind of device computes in unless another is chosen.
DEFAULTS = dict.fromkeys(("cuda", "mps", "xpu", "mtia", "ipu", "privateuseone"), float16)


class Modes(NamedTuple):
    """What is switched on in a thread; equal ones are one object, which compiled calls compare."""

    enabled: tuple[str, ...] = ()  # kinds of devices
    dtypes: tuple[tuple[str, DType], ...] = ()  # that were chosen for them
    keeps_casts: bool = True
    packs_saved: bool = False  # `saved_tensors_hooks` are in force


_known: dict[Modes, Modes] = {}
OFF = _known.setdefault(Modes(), Modes())


class _State(threading.local):
    modes = OFF
    lower: DType | None = None  # what functions on the CPU compute in; None while that is off
    nesting = 0
    change = -1  # the number of the change that began the innermost block

    def __init__(self) -> None:
        self.casts: dict[Any, tuple[Any, ...]] = {}  # by tensor and grad mode


state = _State()  # of this thread


def dtype_for(device_type: str) -> DType:
    """The type that functions on a kind of device compute in under autocast."""
    return dict(state.modes.dtypes).get(device_type, DEFAULTS.get(device_type, bfloat16))


def is_enabled(device_type: str) -> bool:
    """Whether autocast is switched on for a kind of device."""
    return device_type in state.modes.enabled


def switch(modes: Modes) -> None:
    """Let `modes` hold in this thread."""
    state.modes = _known.setdefault(modes, modes)
    state.lower = dtype_for("cpu") if "cpu" in modes.enabled else None


class Before(NamedTuple):
    """What held before a block; `own` is the number of the change that began it."""

    modes: Modes
    nesting: int
    change: int
    own: int


_changes = itertools.count()


def begin(modes: Modes, before: list[Before]) -> None:
    """Let `modes` hold in a block, and note in `before` what held so far, ahead of the first change."""
    before.append(Before(state.modes, state.nesting, state.change, next(_changes)))
    state.change = before[-1].own
    state.nesting += 1
    switch(modes)


def end(before: Before) -> None:
    """Put back what held before a block."""
    state.nesting = before.nesting
    if state.nesting == 0:
        forget_casts()
    switch(before.modes)
    state.change = before.change


class using:
    """A block in which `modes` hold, as they did before: for work that is done again."""

    def __init__(self, modes: Modes) -> None:
        self._modes = modes

    def __enter__(self) -> None:
        self._before = state.modes
        switch(self._modes)

    def __exit__(self, *exc_info: object) -> None:
        switch(self._before)


def with_dtype(modes: Modes, device_type: str, dtype: DType) -> Modes:
    """`modes` with another type for a kind of device. The usual type is none that was chosen: a thread that has chosen
    it is as one that has chosen nothing."""
    chosen = {**dict(modes.dtypes), device_type: dtype}
    other = [(kind, of) for kind, of in chosen.items() if of is not DEFAULTS.get(kind, bfloat16)]
    return modes._replace(dtypes=tuple(sorted(other, key=lambda pair: pair[0])))


def with_enabled(modes: Modes, device_type: str, enabled: bool) -> Modes:
    """`modes` with a kind of device switched on or off."""
    rest = set(modes.enabled) - {device_type}
    return modes._replace(enabled=tuple(sorted(rest | {device_type} if enabled else rest)))


# ---------------------------------------------------------------------------------------------------------- casts


def _is_cast(x: Any, dtype: DType) -> bool:
    """Whether autocast converts `x`: a floating-point tensor, but not in float64."""
    return isinstance(x, Tensor) and x.dtype is not dtype and x.dtype.is_floating_point and x.dtype is not float64


def converted(x: Any, dtype: DType) -> Any:
    """What of `x`, a tensor or a list with tensors, autocast converts to `dtype`, so converted."""
    if isinstance(x, (list, tuple)) and any(isinstance(item, Tensor) for item in x):
        return type(x)([converted(item, dtype) for item in x])
    if not _is_cast(x, dtype):
        return x
    is_kept = dtype is state.lower and x.dtype is float32 and x.requires_grad and x.is_leaf and x._base is None
    return _kept(x, dtype) if is_kept and state.modes.keeps_casts else cast(x, dtype)


def _kept(x: Any, dtype: DType) -> Any:
    """The cast of a parameter, made once in the outermost block: uses of it add their gradients in the short type.

    What was written to the parameter since, what another interpreter made, and what has another grad mode is not taken.
    """
    key = id(x), dtype, is_recording()
    found = state.casts.get(key)
    if found is not None:
        of, version, interpreter, out = found
        if of() is x and version == x.buffer.version and interpreter() is current():
            return out
    out = cast(x, dtype)
    if state.nesting:
        state.casts[key] = weakref.ref(x), x.buffer.version, weakref.ref(current()), out
    return out


def forget_casts() -> None:
    """Drop the casts of parameters."""
    state.casts.clear()


def _cast_to(function: Callable[..., Any], dtype: DType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = tuple([converted(arg, dtype) for arg in args])
    kwargs = {name: converted(arg, dtype) for name, arg in kwargs.items()}
    lower, state.lower = state.lower, None
    try:
        return function(*args, **kwargs)
    finally:
        state.lower = lower


def lower_precision(function: F) -> F:
    """Let a function compute in autocast's type."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        lower = state.lower
        return function(*args, **kwargs) if lower is None else _cast_to(function, lower, args, kwargs)

    return called  # type: ignore[return-value]


def _is_on() -> bool:
    return state.lower is not None


def full_precision(function: F) -> F:
    """Let a function compute in float32 under autocast."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if state.lower is None else _cast_to(function, float32, args, kwargs)

    called.casts_to_full = _is_on  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def widest_type(function: F) -> F:
    """Let a function compute in float32 under autocast if one of its operands has that type, else in autocast's."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        lower = state.lower
        if lower is None:
            return function(*args, **kwargs)
        wide = any(x.dtype is not lower for x in _floating([*args, *kwargs.values()]))
        return _cast_to(function, float32 if wide else lower, args, kwargs)

    return called  # type: ignore[return-value]


def _floating(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Tensor):
            if value.dtype.is_floating_point and value.dtype is not float64:
                yield value
        elif isinstance(value, (list, tuple)):
            yield from _floating(value)
