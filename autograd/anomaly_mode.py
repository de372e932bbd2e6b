"""``detect_anomaly``: finding the operation whose derivative is NaN or fails."""

from __future__ import annotations

from typing import Any

from ..tape import anomaly
from ..tracing.user_warning import warn_user
from ..tracing.watch import declare_read, forbid

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]


class _Changed:
    """Anomaly mode as it has been set; as a context, until it ends."""

    def __init__(self, mode: bool, check_nan: bool) -> None:
        self._before = anomaly.is_on(), anomaly.checks_nan()
        if (mode, check_nan) != self._before:
            forbid("turning anomaly mode on or off", "Do it around the compiled function.")
        anomaly.switch(mode, check_nan)

    def __enter__(self) -> None:
        """The mode is set already."""

    def __exit__(self, *exc_info: Any) -> None:
        anomaly.switch(*self._before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on, see ``autograd.detect_anomaly``.

    >>> import tracegrad as tg
    >>> with tg.autograd.set_detect_anomaly(True):
    ...     tg.is_anomaly_enabled()
    True
    """
    declare_read("detect_anomaly", anomaly.is_on)
    return anomaly.is_on()


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, while it is on, has NaN in a gradient for an error: True unless it was set otherwise.

    >>> import tracegrad as tg
    >>> tg.is_anomaly_check_nan_enabled()
    True
    """
    declare_read("check_nan of detect_anomaly", anomaly.checks_nan)
    return anomaly.checks_nan()


def set_detect_anomaly(mode: bool, check_nan: bool = True) -> _Changed:
    """Turn anomaly mode on or off, for good or as a context; with `check_nan` (default True), NaN in a gradient is an
    error.

    See ``detect_anomaly``. Inside a compiled function a change of the mode is refused.

    >>> import tracegrad as tg
    >>> x = tg.tensor(0.0, requires_grad=True)
    >>> with tg.autograd.set_detect_anomaly(True):
    ...     try:
    ...         (x.sqrt() * 0).backward()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    Function 'SqrtBackward0' returned nan values in its 0th output.
    """
    return _Changed(bool(mode), bool(check_nan))


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off for good; `check_nan` as in ``autograd.set_detect_anomaly``.

    >>> import tracegrad as tg
    >>> tg.set_anomaly_enabled(False)
    >>> tg.is_anomaly_enabled()
    False
    """
    _Changed(bool(enabled), bool(check_nan))


def detect_anomaly(check_nan: bool = True) -> _Detecting:
    """A context in which a derivative that is NaN, or raises, is an error that names the operation.

    A warning shows where in the program the forward call stands. Everything is much slower within.

    >>> import tracegrad as tg, warnings
    >>> x = tg.tensor(0.0, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with tg.autograd.detect_anomaly():
    ...         try:
    ...             (x.sqrt() * 0).backward()
    ...         except RuntimeError as error:
    ...             print(error.args[0].splitlines()[0])
    Function 'SqrtBackward0' returned nan values in its 0th output.
    """
    warn_user(
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
        "debugging.",
    )
    return _Detecting(check_nan)


class _Detecting:
    """What `detect_anomaly` gives: on within the block only."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def __enter__(self) -> None:
        self._mode = _Changed(True, self.check_nan)

    def __exit__(self, *exc_info: Any) -> None:
        self._mode.__exit__()
