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
B = TypeVar("B", bound="_BareGradMode")
M = TypeVar("M", bound="inference_mode")


class _Mode(threading.local):
    enabled = True  # whether operations are recorded: grad mode, and no inference mode
    grad = True
    inference = False
    both = (True, False)  # these two, of which there is one object for each combination
    in_transform = False  # in a function that a derivative of `func` calls: inference tensors may be saved there, too
    multithreading = True  # of backward passes; nothing asks
    change = 0  # a number of the last change, never given again in any thread


switches = _Mode()  # of this thread
_changes = itertools.count(1)
_PAIRS = {pair: pair for pair in [_Mode.both, (True, True), (False, False), (False, True)]}


def _set(grad: bool, inference: bool, change: int | None = None) -> None:
    number = next(_changes) if change is None else change
    switches.grad, switches.inference, switches.change = grad, inference, number
    switches.enabled = grad and not inference
    switches.both = _PAIRS[grad, inference]


def is_grad_enabled() -> bool:
    """Whether grad mode is on in this thread: then operations on tensors that require gradients are recorded.

    In ``inference_mode()`` they are not, also where ``enable_grad()`` has switched grad mode on.

    >>> import tracegrad as tg
    >>> with tg.no_grad():
    ...     tg.is_grad_enabled()
    False
    """
    return switches.grad


def is_recording() -> bool:
    """Whether operations on tensors that require gradients are recorded in this thread now: in grad mode, unless in
    inference mode."""
    return switches.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode()``.

    >>> import tracegrad as tg
    >>> with tg.inference_mode():
    ...     tg.is_inference_mode_enabled()
    True
    """
    return switches.inference


def _require_bool(mode: Any, argument: str) -> None:
    if not isinstance(mode, bool):
        raise TypeError(f"{argument} (position 1) must be bool, not {type(mode).__name__}")


class _Decorator:
    """What is in force inside a ``with`` block or for the length of a decorated call."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exc_info: object) -> None:
        raise NotImplementedError

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
                    try:
                        sent = yield value
                    except GeneratorExit:
                        with self._fresh():
                            steps.close()
                        raise
                    except BaseException as error:
                        with self._fresh():
                            value = steps.throw(error)
                    else:
                        with self._fresh():
                            value = steps.send(sent)
            except StopIteration as end:
                return end.value

        return wrapped


class _GradMode(_Decorator):
    """Sets grad mode alone; leaving puts back what grad mode was at the latest entrance, as ``prev`` says.

    An interrupt may come between the block and the first instruction of ``__exit__``. Then the object, which nobody
    needs any more, puts the mode back when it goes, unless the mode has been set since, or it was entered by a call.
    """

    prev: bool
    _target = True
    _change = -1  # the number of the change that began the innermost block
    _outer: int | None = None  # that of the change before, while this has not been put back
    _entrance: Entrance  # of that block

    def __enter__(self) -> None:
        self._entrance = entrance()
        self.prev, self._outer = switches.grad, switches.change
        self._change = next(_changes)
        _set(self._target, switches.inference, self._change)

    def __exit__(self, *exc_info: object) -> None:
        _set(self.prev, switches.inference, self._outer)
        self._change, self._outer = -1, None

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending() and self._change == switches.change and self._entrance.is_with:
            _set(self.prev, switches.inference, self._outer)


class _BareGradMode(_GradMode):
    """Also usable without parentheses: ``@no_grad``."""

    @overload
    def __new__(cls: type[B], function: None = None) -> B: ...

    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        instance = super().__new__(cls)
        return instance if function is None else instance(function)


class no_grad(_BareGradMode):
    """Operations inside are not recorded: their results do not require gradients. A context manager and a decorator.

    It holds for this thread. Writes in place to leaves are allowed inside. Also as ``@no_grad`` without parentheses.

    >>> import tracegrad as tg
    >>> w = tg.ones(2, requires_grad=True)
    >>> with tg.no_grad():
    ...     (w * 2).requires_grad
    False
    """

    prev = _target = False


class enable_grad(_BareGradMode):
    """Operations inside are recorded, also within ``no_grad``, for this thread. A context manager and a decorator.

    Not within ``inference_mode()``, where nothing is recorded.

    >>> import tracegrad as tg
    >>> w = tg.ones(2, requires_grad=True)
    >>> with tg.no_grad(), tg.enable_grad():
    ...     (w * 2).requires_grad
    True
    """

    _target = True


class recorded(enable_grad):
    """`enable_grad` for what the library differentiates itself: in inference mode, too."""

    def __enter__(self) -> None:
        self._entrance = entrance()
        self.prev, self._outer, self._recorded = switches.grad, switches.change, switches.enabled
        self._change = next(_changes)
        _set(True, switches.inference, self._change)
        switches.enabled = True

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__()
        switches.enabled = self._recorded


class set_grad_enabled(_GradMode):
    """Switch recording on or off in this thread: at once as a function, for a block as a context manager.

    As a decorator it holds during the function's calls only.

    >>> import tracegrad as tg
    >>> with tg.set_grad_enabled(False):
    ...     tg.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        _require_bool(mode, "set_grad_enabled(): argument 'enabled'")
        self.prev, self.mode, self._outer = switches.grad, mode, switches.change
        _set(mode, switches.inference)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__qualname__}(mode={self.mode})"

    def __enter__(self) -> None:
        self._entrance = entrance()
        self._change = next(_changes)
        _set(self.mode, switches.inference, self._change)

    def __call__(self, function: F) -> F:
        _set(self.prev, switches.inference, self._outer)  # as a decorator it acts during calls only
        return super().__call__(function)

    def clone(self) -> Any:
        """Another one with the same mode, which it sets at once.

        >>> import tracegrad as tg
        >>> tg.set_grad_enabled(True).clone().mode
        True
        """
        return type(self)(self.mode)

    def _fresh(self) -> _GradMode:
        return enable_grad() if self.mode else no_grad()  # which act from __enter__ on: an interrupt undoes them


class inference_mode(_Decorator):
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

    mode: bool
    _before: tuple[bool, bool, int] | None  # what there was at the entrance, while it is to be put back
    _thread = -1  # that has entered it
    _change = -1  # as of `_GradMode`
    _entrance: Entrance

    @overload
    def __new__(cls: type[M], mode: bool = True) -> M: ...

    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self._begin(entrance())

    def _begin(self, at: Entrance) -> None:
        self._entrance, before = at, getattr(self, "_before", None)
        self._before, self._thread = (switches.grad, switches.inference, switches.change), threading.get_ident()
        self._change = next(_changes)
        if before is None:
            _set(not self.mode, self.mode, self._change)
        else:  # the former entrance is over, which comes last in PyTorch
            _set(before[0], before[1], self._change)

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            self._put_back(self._before)
            self._before = None

    def _put_back(self, before: tuple[bool, bool, int]) -> None:
        _set(*before)

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """What a call has entered ends here, as in PyTorch; a block that an interrupt has ended, as in `_GradMode`."""
        if is_ending() or self._thread != threading.get_ident() or self._before is None:
            return
        if self._change == switches.change or not self._entrance.is_with:
            self._put_back(self._before)

    def clone(self) -> Any:
        """Another one of the same mode.

        >>> import tracegrad as tg
        >>> with tg.inference_mode(False).clone():
        ...     tg.is_inference_mode_enabled()
        False
        """
        return type(self)(self.mode)


class within_transform(inference_mode):
    """What ``func``'s derivatives run functions in. Operations are recorded, also within ``no_grad`` and inference
    mode, and inference tensors may be saved, because the function sees other tensors in PyTorch."""

    _outside = False

    def __init__(self, mode: bool = False) -> None:
        super().__init__(mode)

    def __enter__(self) -> None:
        self._outside = switches.in_transform
        self._begin(entrance())
        switches.in_transform = True

    def _put_back(self, before: tuple[bool, bool, int]) -> None:
        switches.in_transform = self._outside
        super()._put_back(before)


class set_multithreading_enabled(_Decorator):
    """Whether a backward pass may use threads of its own. It never does: the mode is kept, and changes nothing.

    A function, a context manager and a decorator.

    >>> import tracegrad as tg
    >>> with tg.autograd.set_multithreading_enabled(False) as _:
    ...     tg.autograd.set_multithreading_enabled(True).prev
    False
    """

    def __init__(self, mode: bool) -> None:
        _require_bool(mode, "set_multithreading_enabled(): argument 'enabled'")
        self.prev, self.mode, switches.multithreading = switches.multithreading, mode, mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        switches.multithreading = self.prev

    def clone(self) -> Any:
        """Another one with the same mode, which it sets at once.

        >>> import tracegrad as tg
        >>> tg.autograd.set_multithreading_enabled(True).clone().mode
        True
        """
        return type(self)(self.mode)
