"""Autocast: blocks in which some functions compute in a shorter type; what programs ask about it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...ops.pointwise import cast
from ...ops.types import DType, bfloat16, float16, float32, float64
from ...tensors import autocasting
from ...tensors.autocasting import dtype_for, forget_casts, is_enabled, state, switch, with_dtype, with_enabled
from ...tensors.device import device
from ...tensors.tensor import Tensor
from ...tracing.declares import Declares
from ...tracing.user_warning import warn_user

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_AVAILABLE = frozenset("cpu cuda ipu xpu maia xla mps hpu mtia privateuseone".split())
_SUPPORTED = (bfloat16, float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has autocast for a kind of device. RuntimeError for a name that is none.

    >>> import tracegrad as tg
    >>> tg.amp.is_autocast_available("cpu")
    True
    """
    return device(device_type).type in _AVAILABLE


class autocast:
    """A block (or a decorated function) in which products and convolutions compute in `dtype`, some losses in float32.

    `device_type` "cpu" switches it on; `dtype` is bfloat16 (the default) or float16. Which functions convert their
    operands is PyTorch's list; float64 and integers are left as they are. With ``enabled=False`` inside such a block
    nothing is converted. For "cuda" there is a warning and no effect, as in PyTorch without CUDA.

    Converted parameters are kept until the outermost block ends, unless `cache_enabled` is False. Difference: a
    parameter that is written to inside the block is converted again, where PyTorch goes on with its old numbers.

    An interrupt may come where the block begins or ends. Then the object, which nobody needs any more, puts back what
    held before when it goes, unless another block has begun since.

    >>> import tracegrad as tg
    >>> with tg.autocast("cpu", dtype=tg.bfloat16):
    ...     y = tg.ones(2, 2) @ tg.ones(2, 2)
    >>> y.dtype
    tracegrad.bfloat16
    """

    _declares = Declares(attributes=True, apart=frozenset({"_before"}))

    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.fast_dtype = dtype_for(device_type) if dtype is None else dtype
        self._cache_enabled = state.modes.keeps_casts if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._can_be_enabled()
        self._before: list[autocasting.Before] = []

    def _can_be_enabled(self) -> bool:
        if self.device == "cuda":
            warn_user("CUDA is not available or torch_xla is imported. Disabling autocast.")
            return False
        if self.fast_dtype not in _SUPPORTED:
            name = self.device.upper()
            warn_user(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of {', '.join(map(repr, _SUPPORTED))} currently."
            )
            return False
        return True

    def __enter__(self) -> autocast:
        modes = with_enabled(with_dtype(state.modes, self.device, self.fast_dtype), self.device, self._enabled)
        autocasting.begin(modes._replace(keeps_casts=self._cache_enabled), self._before)
        return self

    def __exit__(self, *exc_info: object) -> None:
        autocasting.end(self._before[-1])
        self._before.pop()

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        before = self.__dict__.get("_before")
        if before and not is_ending() and before[-1].own == state.change:
            autocasting.end(before[0])

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]


# ----------------------------------------------------------------------------------------- functions with autocast


def _named_kind(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _as_asked(value: Any, dtype: DType) -> Any:
    """Floating-point tensors in `value`, but those of float64, as `dtype`."""
    if isinstance(value, Tensor):
        return cast(value, dtype) if value.dtype.is_floating_point and value.dtype is not float64 else value
    if isinstance(value, (str, np.ndarray)):
        return value
    if isinstance(value, dict):
        return {_as_asked(key, dtype): _as_asked(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_as_asked(item, dtype) for item in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Callable[..., Any]:
    """Decorate ``forward`` of an `autograd.Function`: with `cast_inputs` it gets its floating operands in that type,
    and runs without autocast, where autocast is switched on for `device_type`; else it runs as it stands, and
    ``custom_bwd`` in the same mode.

    ValueError for a `device_type` that is no text.

    >>> import tracegrad as tg
    >>> class Double(tg.autograd.Function):
    ...     @staticmethod
    ...     @tg.amp.custom_fwd(device_type="cpu", cast_inputs=tg.float32)
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @tg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> with tg.autocast("cpu"):
    ...     Double.apply(tg.ones(2, dtype=tg.bfloat16)).dtype
    tracegrad.float32
    """
    _named_kind(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype, is_on = dtype_for(device_type), is_enabled(device_type)
        args[0]._fwd_used_autocast = is_on and cast_inputs is None
        if cast_inputs is None or not is_on:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_as_asked(args, cast_inputs), **_as_asked(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorate ``backward`` of an `autograd.Function` whose ``forward`` has ``custom_fwd``: it runs in the same mode.

    ValueError for a `device_type` that is no text. An example stands at ``custom_fwd``.

    >>> import tracegrad as tg
    >>> @tg.amp.custom_bwd(device_type="cpu")
    ... def backward(ctx, g):
    ...     return g * 2
    >>> backward.__name__
    'backward'
    """
    _named_kind(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return backward


# ------------------------------------------------------------------------------------------------ what programs ask


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is switched on for a kind of device, in this thread.

    >>> import tracegrad as tg
    >>> tg.is_autocast_enabled("cpu")
    False
    """
    return is_enabled(device(device_type).type)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a kind of device, in this thread; `autocast` blocks do so for their length.

    With one argument, a bool, it is CUDA's. RuntimeError for a kind that is none.

    >>> import tracegrad as tg
    >>> tg.set_autocast_enabled("cpu", True)
    >>> tg.is_autocast_enabled("cpu")
    True
    >>> tg.set_autocast_enabled("cpu", False)
    """
    kind, on = ("cuda", device_type) if enabled is None else (device_type, enabled)
    switch(with_enabled(state.modes, device(kind).type, bool(on)))


def get_autocast_dtype(device_type: str) -> DType:
    """The type that autocast computes in on a kind of device: bfloat16 on the CPU, unless another is set.

    >>> import tracegrad as tg
    >>> tg.get_autocast_dtype("cpu")
    tracegrad.bfloat16
    """
    return dtype_for(device(device_type).type)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set the type that autocast computes in on a kind of device, in this thread: bfloat16 or float16 on the CPU.

    RuntimeError for another one there.

    >>> import tracegrad as tg
    >>> tg.set_autocast_dtype("cpu", tg.float16)
    >>> tg.get_autocast_dtype("cpu")
    tracegrad.float16
    >>> tg.set_autocast_dtype("cpu", tg.bfloat16)
    """
    if device_type == "cpu" and dtype not in (*_SUPPORTED, float32):
        raise RuntimeError(
            f"Currently, AutocastCPU only support Bfloat16 or Float16 as the autocast_cpu_dtype: {dtype}"
        )
    switch(with_dtype(state.modes, device(device_type).type, dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether converted parameters are kept until the outermost block ends: True at first.

    >>> import tracegrad as tg
    >>> tg.is_autocast_cache_enabled()
    True
    """
    return state.modes.keeps_casts


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Let converted parameters be kept until the outermost block ends, or not, in this thread.

    >>> import tracegrad as tg
    >>> tg.set_autocast_cache_enabled(False)
    >>> tg.is_autocast_cache_enabled()
    False
    >>> tg.set_autocast_cache_enabled(True)
    """
    switch(state.modes._replace(keeps_casts=bool(enabled)))


def clear_autocast_cache() -> None:
    """Drop the converted parameters that are kept.

    >>> import tracegrad as tg
    >>> tg.clear_autocast_cache()
    """
    forget_casts()


def autocast_increment_nesting() -> int:
    """Enter a block whose end drops converted parameters; returns the number of blocks that are open.

    >>> import tracegrad as tg
    >>> tg.autocast_increment_nesting(), tg.autocast_decrement_nesting()
    (1, 0)
    """
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """Leave a block that ``autocast_increment_nesting`` has entered; returns the number of blocks that are open.

    >>> import tracegrad as tg
    >>> tg.autocast_increment_nesting(), tg.autocast_decrement_nesting()
    (1, 0)
    """
    state.nesting -= 1
    return state.nesting


def _old(name: str, new: str) -> None:
    warn_user(f"torch.{name} is deprecated. Please use torch.{new} instead.", DeprecationWarning)


def is_autocast_cpu_enabled() -> bool:
    """The old spelling of ``is_autocast_enabled("cpu")``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.is_autocast_cpu_enabled()
    >>> found
    False
    """
    _old("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The old spelling of ``set_autocast_enabled("cpu", enabled)``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.set_autocast_cpu_enabled(False)
    >>> found
    """
    _old("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> DType:
    """The old spelling of ``get_autocast_dtype("cpu")``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.get_autocast_cpu_dtype()
    >>> found
    tracegrad.bfloat16
    """
    _old("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return dtype_for("cpu")


def set_autocast_cpu_dtype(dtype: DType) -> None:
    """The old spelling of ``set_autocast_dtype("cpu", dtype)``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.set_autocast_cpu_dtype(tg.bfloat16)
    >>> found
    """
    _old("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> DType:
    """The old spelling of ``get_autocast_dtype("cuda")``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.get_autocast_gpu_dtype()
    >>> found
    tracegrad.float16
    """
    _old("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return dtype_for("cuda")


def set_autocast_gpu_dtype(dtype: DType) -> None:
    """The old spelling of ``set_autocast_dtype("cuda", dtype)``, of which PyTorch warns (DeprecationWarning).

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = tg.set_autocast_gpu_dtype(tg.float16)
    >>> found
    """
    _old("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)
