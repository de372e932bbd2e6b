"""How functions of devices that are not there answer."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from ..tracing.user_warning import warn_user

F = TypeVar("F", bound=Callable[..., Any])


_ANSWER = """{doc} The arguments are those of PyTorch's function, and are not looked at.

>>> import tracegrad as tg
>>> tg.{path}() == {value!r}
True
"""
_REFUSAL = """{kind}, whatever the arguments are: {message}

>>> import tracegrad as tg
>>> try:
...     tg.{path}()
... except {kind}:
...     print("no such device")
no such device
"""


def answering(name: str, value: Any, doc: str) -> Callable[..., Any]:
    """A function that takes anything and returns `value`."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        return value

    return _named(answer, name, _ANSWER, doc=doc, value=value)


def refusing(name: str, kind: type[Exception], message: str) -> Callable[..., Any]:
    """A function that takes anything and raises ``kind(message)``."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise kind(message)

    return _named(refuse, name, _REFUSAL, kind=kind.__name__, message=message)


def _named(function: Callable[..., Any], name: str, text: str, **parts: Any) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(2).f_globals["__name__"]  # which has it under this name
    path = f"{function.__module__}.{name}".partition(".devices.")[2]
    function.__doc__ = text.format(path=path, **parts)
    return function


class Refused:
    """A class that PyTorch's build for CPUs has in name only: RuntimeError when one is made.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.cuda.Event()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """

    _words = "Tried to instantiate dummy base class"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{cls._words} {cls.__name__}: there is no such device")


def deprecated(old: str, new: str) -> Callable[[F], F]:
    """Decorate a function that PyTorch has deprecated: FutureWarning at each call."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            warn_user(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning)
            return function(*args, **kwargs)

        called.__name__ = called.__qualname__ = old.partition("(")[0].rpartition(".")[2]
        called.__doc__ = f"The old name of ``{new}`` (FutureWarning).\n\n{function.__doc__}"
        return called  # type: ignore[return-value]

    return decorate
