"""Process-wide settings of PyTorch that programs set once: they are kept and read back, and say what they do here."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..tensors.device import CPU, as_device
from ..tracing.settings import Setting
from ..tracing.user_warning import once, warn_user
from . import cpu, cuda, mps, xpu

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike

__all__ = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_device_module",
    "get_float32_matmul_precision", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")
_MODES = ("default", "warn", "error")

_precision = Setting("the precision of float32 products", "highest")
_deterministic = Setting("whether algorithms are deterministic", False)
_warn_only = Setting("whether algorithms that are not deterministic only warn", False)


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 have to be: kept, and all are computed in float32. UserWarning for another word.

    RuntimeError for what is no text.

    >>> import tracegrad as tg
    >>> tg.set_float32_matmul_precision("high"); tg.get_float32_matmul_precision()
    'high'
    >>> tg.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in _PRECISIONS:
        warn_user(f"{precision} is not one of {', '.join(_PRECISIONS)}; the current setting is kept.")
        return
    _precision.set(precision)


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` was given: "highest" at first.

    >>> import tracegrad as tg
    >>> tg.get_float32_matmul_precision()
    'highest'
    """
    return _precision.get()


def _boolean(function: str, value: Any) -> bool:
    """`value`, for functions to which PyTorch has no parser of arguments; `function` is its name for them."""
    if not isinstance(value, bool):
        raise RuntimeError(f"{function} expects a bool, but got {type(value).__name__}")
    return value


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same bits in each run: kept, and functions give them anyway. TypeError unless `mode` is a bool.

    `warn_only` (default False) is kept as well.

    >>> import tracegrad as tg
    >>> tg.use_deterministic_algorithms(True)
    >>> tg.are_deterministic_algorithms_enabled()
    True
    >>> tg.use_deterministic_algorithms(False)
    """
    if not isinstance(mode, bool):
        what = "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool"
        raise TypeError(f"{what}, not {type(mode).__name__}")
    _deterministic.set(mode)
    _warn_only.set(bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given: False at first.

    >>> import tracegrad as tg
    >>> tg.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic.get()


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given as `warn_only`: False at first.

    >>> import tracegrad as tg
    >>> tg.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only.get()


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``use_deterministic_algorithms`` by number or word: 0 "default", 1 "warn", 2 "error".

    RuntimeError for others, TypeError for what is neither.

    >>> import tracegrad as tg
    >>> tg.set_deterministic_debug_mode("warn")
    >>> tg.get_deterministic_debug_mode()
    1
    >>> tg.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            words = "`default`, `warn`, `error`"
            raise RuntimeError(f"invalid value of debug_mode, expected one of {words}, but got {debug_mode}")
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, see ``set_deterministic_debug_mode``.

    >>> import tracegrad as tg
    >>> tg.get_deterministic_debug_mode()
    0
    """
    if not _deterministic.get():
        return 0
    return 1 if _warn_only.get() else 2


def set_flush_denormal(mode: bool) -> bool:
    """False for True: denormal numbers are kept. True for False, which is how it is.

    RuntimeError unless `mode` is a bool.

    Difference: PyTorch flushes them on processors that can, and then returns True.

    >>> import tracegrad as tg
    >>> tg.set_flush_denormal(False)
    True
    """
    return not _boolean("flush_denormal", mode)


def set_warn_always(b: bool) -> None:
    """Let warnings of PyTorch's that come once come always: Python's filters decide besides.

    RuntimeError unless `b` is a bool.

    >>> import tracegrad as tg
    >>> tg.set_warn_always(True)
    >>> tg.is_warn_always_enabled()
    True
    >>> tg.set_warn_always(False)
    """
    once.always.set(_boolean("setWarnOnlyOnce", b))


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` was given: False at first.

    >>> import tracegrad as tg
    >>> tg.is_warn_always_enabled()
    False
    """
    return once.always.get()


def get_device_module(device: DeviceLike | None = None) -> ModuleType:
    """The module of a kind of device: `tracegrad.cuda` for "cuda". RuntimeError if there is none.

    >>> import tracegrad as tg
    >>> tg.get_device_module("cuda").is_available()
    False
    """
    kind = (CPU if device is None else as_device(device)).type
    modules = {"cpu": cpu, "cuda": cuda, "mps": mps, "xpu": xpu}
    if kind not in modules:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return modules[kind]
