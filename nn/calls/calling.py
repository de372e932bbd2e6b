"""How a module is called: the hooks around its forward and backward, its own and those of all modules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...tape.handles import RemovableHandle, add_hook
from ...tensors.device import remaking
from ...tensors.meta.meta_tensor import any_meta, require_one_device, without_numbers
from ...tracing.eager_compiler import compiled_by
from ...tracing.entries import TableRead
from ...tracing.layers import find_layers_by
from ...tracing.tracebacks import boundary, fold
from ...tracing.user_warning import warn_user
from ...tracing.watch import Watcher, declare_read, serve, watcher
from ...tracing.watched_order import WatchedOrder
from ..hooks import BackwardHooks
from ..recording import declared, naming
from ..traversal import Traversal
from . import everywhere, tables
from .last_operation import hook_last_operation
from .locating import layer_now, locate

M = TypeVar("M", bound="Calling")
_PACKAGE = __name__.partition(".")[0]
#: Where layers are defined that only call others.
_CONTAINERS = frozenset({f"{_PACKAGE}.nn.containers.of_modules", f"{_PACKAGE}.nn.parallel.data_parallel"})


class Calling(Traversal):
    """What Module has of calls."""

    _forward_pre_hooks: WatchedOrder
    _forward_pre_hooks_with_kwargs: WatchedOrder
    _forward_hooks: WatchedOrder
    _forward_hooks_with_kwargs: WatchedOrder
    _forward_hooks_always_called: WatchedOrder
    _backward_pre_hooks: WatchedOrder
    _backward_hooks: WatchedOrder
    #: What the backward hooks are, and all later ones have to be; None before the first.
    _is_full_backward_hook: bool | None
    #: The call as a program, after `compile`.
    _compiled_call_impl: Callable[..., Any] | None = None

    if TYPE_CHECKING:  # a method with any arguments, or a compiled function, which pyright would not take for one
        forward: Any
    else:

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            """What the module computes; subclasses define it."""
            raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            listening = watcher()
            if listening is not None:
                return self._recorded(listening, args, kwargs)
            if self._compiled_call_impl is not None:
                return self._compiled_call_impl(*args, **kwargs)
            if remaking.alive and self._is_on_meta(args, kwargs):
                return without_numbers(self._run, *args, **kwargs)
            if type(self).__call__ is not _CALL:  # what is done around this call is not done again
                return self._run(*args, **kwargs)
            return serve(self, self._run, args, kwargs)
        except Exception as error:
            locate(error, self, args, kwargs, CALL)
            fold(error)
            raise

    def _is_on_meta(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether this is a layer of the library that is to compute without numbers: its Python takes the short cuts of
        the library. A program's own module calls functions, which look for themselves; so do modules that call it."""
        home = str(type(self).forward.__module__)  # None in a program that `exec` runs
        if home.partition(".")[0] != _PACKAGE or home in _CONTAINERS:
            return False
        tensors = (*args, *kwargs.values(), *self.parameters(), *self.buffers())
        if not any_meta(tensors):
            return False
        require_one_device(tensors)
        return True

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """The call with its hooks, also where `compile` has made a program of it."""
        listening = watcher()
        return self._run(*args, **kwargs) if listening is None else self._recorded(listening, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Let calls of this module go through ``tracegrad.compile(module, *args, **kwargs)``.

        >>> import tracegrad as tg
        >>> layer = tg.nn.Linear(2, 1)
        >>> layer.compile()
        >>> tuple(layer(tg.ones(3, 2)).shape)
        (3, 1)
        """
        self._compiled_call_impl = compiled_by(self._call_impl, *args, **kwargs)

    def _recorded(self, listening: Watcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def run(path: str) -> Any:
            declared(self, "hooks", TableRead.of(self, tables.TABLES, self._hook_ids))
            declare_read("hooks of all modules", everywhere.HOOK_IDS)
            listening.module_called(self, path)
            try:
                return self._run(*args, **kwargs)
            finally:
                listening.module_left()

        return naming(self, run)

    def _hook_ids(self) -> tuple[Any, ...]:
        return tables.identities(self.__dict__)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        try:
            hooked = (
                own["_forward_pre_hooks"]
                or own["_forward_hooks"]
                or own["_backward_pre_hooks"]
                or own["_backward_hooks"]
                or everywhere.is_hooked()
            )
        except KeyError:
            raise AttributeError(f"{type(self).__name__}.__init__() has not called super().__init__()") from None
        return _HookedCall(self, args, kwargs).run() if hooked else self.forward(*args, **kwargs)

    # ------------------------------------------------------------------------------------------------- registration

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the positional arguments.

        With `with_kwargs`: ``hook(module, args, kwargs)``, which may return both. With `prepend` it comes first.
        """
        marks = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return add_hook(self._forward_pre_hooks, hook, prepend, marks)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output.

        With `with_kwargs`: ``hook(module, args, kwargs, output)``. With `always_call` it is called, with the output
        so far, also where forward or a hook raises.
        """
        marks = [(self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)]
        return add_hook(self._forward_hooks, hook, prepend, marks)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's backward; what it returns replaces the gradients."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        What it returns replaces ``grad_input``. Only positional arguments and tensors in a tuple are seen.
        RuntimeError for a module with hooks of `register_backward_hook`.
        """
        return self._add_backward_hook(hook, True, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Deprecated: ``hook(module, grad_input, grad_output)`` of the operation that gave the module's output."""
        return self._add_backward_hook(hook, False)

    def _add_backward_hook(self, hook: Callable[..., Any], full: bool, prepend: bool = False) -> RemovableHandle:
        tables.require_one_kind(self.__dict__, full, "on a single Module")
        self._is_full_backward_hook = full
        return add_hook(self._backward_hooks, hook, prepend)


_CALL = Calling.__call__
#: In which each call of a module has its frame.
CALL = _CALL.__code__
find_layers_by(functools.partial(layer_now, CALL))


class _HookedCall:
    """One call of a module with hooks."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.output: Any = None
        self.of_all = [*tables.after_forward(everywhere.tables)]
        self.after = [*self.of_all, *tables.after_forward(module.__dict__)]
        self.called = 0  # how many of the hooks after the forward

    def run(self) -> Any:
        try:
            return self._run()
        except Exception:
            self._always(self.after[self.called :])
            raise

    def _run(self) -> Any:
        module = self.module
        both = (everywhere.tables, module.__dict__)
        for first in [hook for of in both for hook in tables.before_forward(of)]:
            self.args, self.kwargs = first.before(module, self.args, self.kwargs)
        before = [hook for of in both for hook in of["_backward_pre_hooks"].values()]
        full, partial = ([hook for of in both for hook in tables.backward(of, kind)] for kind in (True, False))
        borders = BackwardHooks(module, before, full) if before or full else None
        args = self.args if borders is None else borders.around_inputs(self.args)
        self.output = module.forward(*args, **self.kwargs)
        for hook in self.after:
            self.called += hook.always
            self.output = hook.after(module, self.args, self.kwargs, self.output)
            self.called += not hook.always
        if borders is not None:
            self.output = borders.around_outputs(self.output)
        if partial:
            hook_last_operation(module, partial, self.args, self.output)
        return self.output

    def _always(self, hooks: list[tables.ForwardHook]) -> None:
        """The hooks that are called although there was an error; what they raise is a warning."""
        for hook in hooks:
            if not hook.always:
                continue
            try:
                self.output = hook.after(self.module, self.args, self.kwargs, self.output)
            except Exception as error:
                kind = "global module" if hook in self.of_all else "module"
                warn_user(
                    f"{kind} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                )
