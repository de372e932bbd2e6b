"""Whether operations are recorded for differentiation: a switch of each thread, as context manager and decorator."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

from ..ops.callers.entrances import Entrance, entrance
from ..tracing.user_warning import warn_at_user

F = TypeVar("F", bound=Callable[..., Any])
B = TypeVar("B", bound="_BareDecorator")


class _Mode(threading.local):
    enabled = True
    inference = False
    both = (True, False)  # of which there is one object for each combination
    change = 0  # a number of the last change, never given again in any thread


switches = _Mode()  # of this thread
_changes = itertools.count(1)
_PAIRS = {pair: pair for pair in [_Mode.both, (True, True), (False, False), (False, True)]}


def _set(enabled: bool, inference: bool, change: int | None = None) -> None:
    number = next(_changes) if change is None else change
    switches.enabled, switches.inference, switches.change = enabled, inference, number
    switches.both = _PAIRS[enabled, inference]


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require gradients are recorded in this thread now.

    >>> import tracegrad as tg
    >>> with tg.no_grad():
    ...     tg.is_grad_enabled()
    False
    """
    return switches.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode()``.

    >>> import tracegrad as tg
    >>> with tg.inference_mode():
    ...     tg.is_inference_mode_enabled()
    True
    """
    return switches.inference


class _GradMode:
    """Sets the mode inside a ``with`` block or for the length of a decorated call.

    An interrupt may come between the block and the first instruction of ``__exit__``. Then the object, which nobody
    needs any more, puts the mode back when it goes, unless the mode has been set since, or it was entered by a call.
    """

    _target = True
    _change = -1  # the number of the change that began the innermost block
    _entrance: Entrance  # of that block
    _latest: tuple[bool, bool] | None = None  # what the latest block has put back, for those that leave once more

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool, int]] = []

    def __enter__(self) -> None:
        self._entrance = entrance()
        self._before.append((switches.enabled, switches.inference, switches.change))
        self._change = next(_changes)
        _set(self._target, self._inference(), self._change)

    def __exit__(self, *exc_info: object) -> None:
        if not self._before:
            _set(*self._once_more())
            return
        _set(*self._before[-1])
        self._latest = self._before[-1][:2]
        self._change = -1
        self._before.pop()

    def _once_more(self) -> tuple[bool, bool]:
        """What is put back without a block: as in PyTorch what was there before the latest one."""
        if self._latest is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'prev': it was not entered")
        return self._latest

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending() and self._change == switches.change and self._entrance.is_with:
            _set(*self._before[0])

    def _inference(self) -> bool:
        return switches.inference

    def clone(self) -> Any:
        """Another one of its kind, in which a decorated function runs; classes with arguments of their own define it.

        >>> import tracegrad as tg
        >>> with tg.no_grad().clone():
        ...     tg.is_grad_enabled()
        False
        """
        return type(self)()

    def _fresh(self) -> Any:
        return self.clone()

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            return self._making(function)
        if inspect.isgeneratorfunction(function):
            return self._generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _making(self, kind: Any) -> Any:
        """The class as a function of which the calls run in the mode."""
        warn_at_user("Decorating classes is deprecated: decorate methods, or `__init__` alone", FutureWarning)
        return self(lambda *args, **kwargs: kind(*args, **kwargs))

    def _generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator runs in the mode, and the code between its steps does not."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            steps = function(*args, **kwargs)
            try:
                with self._fresh():
                    value = next(steps)
                while True:
                    sent = yield value
                    with self._fresh():
                        value = steps.send(sent)
            except StopIteration as end:
                return end.value
            finally:
                steps.close()

        return wrapped


class _BareDecorator(_GradMode):
    """Also usable without parentheses: ``@no_grad``."""

    @overload
    def __new__(cls: type[B], function: None = None) -> B: ...

    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(function)


class no_grad(_BareDecorator):
    """Operations inside are not recorded: their results do not require gradients. A context manager and a decorator.

    It holds for this thread. Writes in place to leaves are allowed inside. Also as ``@no_grad`` without parentheses.

    >>> import tracegrad as tg
    >>> w = tg.ones(2, requires_grad=True)
    >>> with tg.no_grad():
    ...     (w * 2).requires_grad
    False
    """

    _target = False

    def _once_more(self) -> tuple[bool, bool]:
        return self._latest or (False, switches.inference)


class enable_grad(_BareDecorator):
    """Operations inside are recorded, also within ``no_grad``, for this thread. A context manager and a decorator.

    >>> import tracegrad as tg
    >>> w = tg.ones(2, requires_grad=True)
    >>> with tg.no_grad(), tg.enable_grad():
    ...     (w * 2).requires_grad
    True
    """

    _target = True


class set_grad_enabled(_GradMode):
    """Switch recording on or off in this thread: at once as a function, for a block as a context manager.

    As a decorator it holds during the function's calls only.

    >>> import tracegrad as tg
    >>> with tg.set_grad_enabled(False):
    ...     tg.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._target = bool(mode)
        self._outer = switches.enabled, switches.inference, switches.change
        _set(self._target, switches.inference)

    @property
    def mode(self) -> bool:
        """Whether it switches recording on.

        >>> import tracegrad as tg
        >>> with tg.set_grad_enabled(False) as _, tg.enable_grad():
        ...     tg.set_grad_enabled(True).mode
        True
        """
        return self._target

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__qualname__}(mode={self.mode})"

    def __enter__(self) -> None:
        self._entrance = entrance()
        self._before.append(self._outer)
        self._change = next(_changes)
        _set(self._target, switches.inference, self._change)

    def __call__(self, function: F) -> F:
        _set(*self._outer)  # as a decorator it acts during calls only
        return super().__call__(function)

    def _once_more(self) -> tuple[bool, bool]:
        return self._outer[:2]

    def clone(self) -> Any:
        """Another one with the same mode, which it sets at once.

        >>> import tracegrad as tg
        >>> tg.set_grad_enabled(True).clone().mode
        True
        """
        return type(self)(self.mode)

    def _fresh(self) -> _GradMode:
        return enable_grad() if self._target else no_grad()  # which act from __enter__ on: an interrupt undoes them


class inference_mode(_BareDecorator):
    """``no_grad``, whose new tensors are no part of autograd afterwards either (`Tensor.is_inference`).

    To save one for a backward pass, to write to it in place or to let it require a gradient outside is a RuntimeError;
    ``clone()`` gives a normal tensor. Views of normal tensors are normal. ``inference_mode(False)`` switches it off.
    Difference: so are results of compiled calls.

    >>> import tracegrad as tg
    >>> with tg.inference_mode():
    ...     x = tg.ones(2)
    >>> x.is_inference(), x.clone().is_inference()
    (True, False)
    """

    _target = False

    @overload
    def __new__(cls: type[B], mode: bool = True) -> B: ...

    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls, mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._target = not mode if isinstance(mode, bool) else False

    def _inference(self) -> bool:
        return not self._target

    def clone(self) -> Any:
        """Another one of the same mode.

        >>> import tracegrad as tg
        >>> with tg.inference_mode(False).clone():
        ...     tg.is_inference_mode_enabled()
        False
        """
        return type(self)(not self._target)
