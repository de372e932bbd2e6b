"""``tracegrad.compile``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, overload

from .function import CompiledFunction
from .memory_limit import checked

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

if TYPE_CHECKING:

    class Compiled(CompiledFunction, Generic[P, R_co]):
        """A compiled function as editors see it: with its function's arguments and result."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class _Layered(Protocol):
    """What a module has: a compiled one is used as the module that it was made of, attributes and methods."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def named_modules(self) -> Any: ...


M = TypeVar("M", bound=_Layered)


class Compiling(Protocol):
    """What ``compile(fullgraph=True)`` gives: a decorator."""

    @overload
    def __call__(self, function: M, /) -> M: ...  # type: ignore[overload-overlap]  # modules can be called, too

    @overload
    def __call__(self, function: Callable[P, R], /) -> Compiled[P, R]: ...


@overload
def compile(function: M, *, fullgraph: bool = False, memory_limit: int | None = None, **options: Any) -> M: ...


@overload
def compile(
    function: Callable[P, R], *, fullgraph: bool = False, memory_limit: int | None = None, **options: Any
) -> Compiled[P, R]: ...


@overload
def compile(
    function: None = None, *, fullgraph: bool = False, memory_limit: int | None = None, **options: Any
) -> Compiling: ...


def compile(
    function: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    memory_limit: int | None = None,
    **options: Any,
) -> Any:
    """Record `function` (a training step, a model) and serve its later calls from C.

    With `fullgraph` a function that cannot be replayed by one C call (it looks at numbers, prints, appends to a list)
    is refused with a CaptureError that names the line; without, Python runs at each of its calls and C does the ops.
    Where no program can be built (no C compiler, no folder for programs), a warning says why and how to mend it, and
    the function runs eagerly; with `fullgraph` a RuntimeError says so before the call does anything. If it only shows
    when the call is done, its result is returned, and the next call that needs a program raises the error.
    ``dynamic``, ``backend``, ``mode`` and the like are accepted for PyTorch's sake and have no effect. Works as a
    decorator, with or without parentheses. Where a model is compiled and the loop around it is eager, losses of the
    library that are taken of its result, and steps of optimizers unless ``fused=False``, become programs as well; the
    graph behind such a loss is one node.

    `memory_limit` is how many bytes a program may have for what it works in: values between its kernels, not what comes
    from outside (arguments, parameters, gradients, results). Values that wait for the backward pass and are pointwise
    in others are then computed again instead of kept; all results have the same bits as without a limit. What cannot
    be done within it raises a MemoryLimitError that names the lines of the largest values, and the call has changed
    nothing. Such a function is always a `fullgraph`, and its recorded call, which runs eagerly, takes what eager mode
    takes. TypeError for a limit that is no integer, ValueError for a negative one. PyTorch has no such option.

    >>> import tracegrad as tg
    >>> double = tg.compile(lambda x: x * 2)
    >>> double(tg.ones(2)); double(tg.ones(2))
    tensor([2., 2.])
    tensor([2., 2.])
    >>> within = tg.compile(lambda x: (x @ x).tanh().sum(), memory_limit=4096)
    >>> within(tg.ones(2, 2)); within.schedule.arena_bytes <= 4096
    tensor(3.8561)
    True
    """
    if function is None:
        return functools.partial(compile, fullgraph=fullgraph, memory_limit=memory_limit, **options)
    limit = None if memory_limit is None else checked(memory_limit)
    return CompiledFunction(function, fullgraph or limit is not None, limit)
