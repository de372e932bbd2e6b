"""``detect_anomaly``: finding the operation whose derivative is NaN or fails."""

from __future__ import annotations

from typing import Any

from ..tape import anomaly
from ..tracing.user_warning import warn_user
from ..tracing.watch import forbid

__all__ = ["detect_anomaly", "set_detect_anomaly"]


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
