"""Module: the base of all layers and models. Names and rules are PyTorch's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..ops.array import eager
from ..ops.core import current
from ..ops.pointwise import cast
from ..ops.types import DType, float32, float64
from ..tape.grad_mode import no_grad
from ..tensors.device import require_cpu
from ..tensors.overriding import overrides
from ..tensors.tensor import RemovableHandle, Tensor
from ..tracing.declares import Declares
from ..tracing.watch import WatchedDict, Watcher, serve, watcher
from . import state
from .hooks import BackwardHooks, ForwardHook, ForwardPreHook
from .option import Option
from .printing import block
from .recording import declared, naming
from .registry import REGISTRIES
from .rollback import default
from .traversal import Traversal

M = TypeVar("M", bound="Module")

_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def _parts(module: Any) -> list[Any]:
    """What a call of the module goes through: registries and hooks."""
    return [part for table in (*REGISTRIES, *_HOOKS) for part in module.__dict__.get(table, {}).values()]


class Module(Traversal):
    """Parameters, buffers, submodules, and a ``forward``.

    Tensors of class Parameter and modules that are assigned to attributes are registered: ``parameters()``,
    ``state_dict()``, ``to()`` and the like reach them.

    >>> import tracegrad as tg
    >>> class Scale(tg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tg.nn.Parameter(tg.ones(1))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(tg.tensor([2.0]))
    tensor([2.], grad_fn=<MulBackward0>)
    """

    training = Option("training")
    _declares = Declares(
        "modules",
        attributes=True,
        apart=frozenset({*REGISTRIES, "_non_persistent_buffers_set", "training"}),
        parts=_parts,
    )
    _version = 1  # of the state's layout; subclasses that change theirs count up

    def __init__(self) -> None:
        super().__init__()
        dict.update(self.__dict__, {hooks: WatchedDict() for hooks in _HOOKS})
        self.training = True

    # ------------------------------------------------------------------------------------------------------ calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; subclasses define it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        listening = watcher()
        if listening is None:
            return serve(self, self._run, args, kwargs)
        return self._recorded(listening, args, kwargs)

    def _recorded(self, listening: Watcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def run(path: str) -> Any:
            declared(self, "hooks", self._hook_ids)
            listening.module_called(self, path)
            try:
                return self._run(*args, **kwargs)
            finally:
                listening.module_left()

        return naming(self, run)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        try:
            hooked = any(own[hooks] for hooks in _HOOKS)
        except KeyError:
            raise AttributeError(f"{type(self).__name__}.__init__() has not called super().__init__()") from None
        if not hooked:
            return self.forward(*args, **kwargs)
        for before in list(own["_forward_pre_hooks"].values()):
            args, kwargs = before(self, args, kwargs)
        output = self._with_backward_hooks(args, kwargs)
        for after in list(own["_forward_hooks"].values()):
            output = after(self, args, kwargs, output)
        return output

    def _with_backward_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before, after = list(self._backward_pre_hooks.values()), list(self._backward_hooks.values())
        if not before and not after:
            return self.forward(*args, **kwargs)
        hooks = BackwardHooks(self, before, after)
        return hooks.around_outputs(self.forward(*hooks.around_inputs(args), **kwargs))

    # -------------------------------------------------------------------------------------------------------- hooks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the positional arguments.

        With `with_kwargs`: ``hook(module, args, kwargs)``, which may return both.
        """
        return _hooked(self._forward_pre_hooks, ForwardPreHook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return _hooked(self._forward_hooks, ForwardHook(hook, with_kwargs), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's backward; what it returns replaces the gradients."""
        return _hooked(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        What it returns replaces ``grad_input``. Only positional arguments and tensors in a tuple are seen.
        """
        return _hooked(self._backward_hooks, hook, prepend)

    def _hook_ids(self) -> tuple[int, ...]:
        return tuple(number for hooks in _HOOKS for number in self.__dict__.get(hooks, ()))

    # -------------------------------------------------------------------------------------------------------- state

    def state_dict(
        self, *, destination: OrderedDict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Parameters and persistent buffers by dotted path, detached (unless `keep_vars`) and sharing memory."""
        into: OrderedDict[str, Any] = OrderedDict() if destination is None else destination
        if destination is None:
            into._metadata = OrderedDict()  # type: ignore[attr-defined]
        state.collect(self, into, prefix, keep_vars)
        return into

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into `destination`; subclasses may put more there."""
        state.collect_own(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> state.IncompatibleKeys:
        """Copy values into the parameters' and buffers' memory; ``assign=True`` takes the tensors themselves.

        RuntimeError that lists everything that does not fit, TypeError if `state_dict` is no mapping. Without `strict`,
        missing and unexpected keys are no errors and are returned. Difference: all or nothing. Where PyTorch loads what
        fits and then raises, nothing is changed here by a call that raises.
        """
        return state.load(self, state_dict, strict, assign)

    @default
    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Check this module's own part of a state; it is stored when the whole state has been checked.

        Subclasses may change `state_dict` (a copy) before they call this, to load what earlier versions saved.
        """
        report = state.Report(missing_keys, unexpected_keys) if strict else state.Report()
        assign = bool(local_metadata.get("assign_to_params_buffers"))
        state.load_own(self, state_dict, prefix, assign, report, error_msgs)

    @default
    def get_extra_state(self) -> Any:
        """What ``state_dict()`` keeps besides tensors; a subclass that defines this defines `set_extra_state`, too."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    @default
    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` gave; called by ``load_state_dict``."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # -------------------------------------------------------------------------------------------- modes and gradients

    def train(self: M, mode: bool = True) -> M:
        """Set training mode here and below: dropout drops, batch norm takes the batch's statistics."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: M) -> M:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Start or stop tracking all parameters: freeze a model, or part of it."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients: ``.grad = None``, or zeros in place."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None  # without a look at the old one, so that it is no guard of a recording
            elif parameter.grad is not None:
                gradient = parameter.grad.detach()
                eager().write(gradient, current().constant(0, gradient.dtype))

    def apply(self: M, function: Callable[[Any], Any]) -> M:
        """Call ``function(module)`` for all modules below, then for this one; to initialise weights, for instance."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    # --------------------------------------------------------------------------------------------------- conversion

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Convert floating parameters and buffers to a dtype, in place: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Parameters stay the same objects. The only device is the CPU.
        """
        dtype = kwargs.get("dtype")
        require_cpu(kwargs.get("device"))
        for arg in args:
            if isinstance(arg, (Tensor, DType)):
                dtype = arg.dtype if isinstance(arg, Tensor) else arg
            elif not isinstance(arg, bool):
                require_cpu(arg)
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point dtypes, but got desired dtype={dtype!r}")
        return self._apply(lambda tensor: _floating_as(tensor, dtype))

    def type(self: M, dst_type: DType) -> M:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: _as(tensor, dst_type))

    def float(self: M) -> M:
        """``to(float32)``."""
        return self.to(float32)

    def double(self: M) -> M:
        """``to(float64)``."""
        return self.to(float64)

    def cpu(self: M) -> M:
        """The module: it is on the CPU."""
        return self

    def cuda(self: M, device: Any = None) -> M:
        """An error: there is no such device."""
        require_cpu("cuda")
        return self

    def share_memory(self: M) -> M:
        """The module; nothing is done."""
        return self

    def _apply(self: M, function: Callable[[Tensor], Tensor]) -> M:
        """Replace all tensors by ``function(tensor)``; parameters and their gradients keep their identity."""
        with no_grad():
            for module in self.modules():
                for parameter in module._parameters.values():
                    for tensor in (parameter, None if parameter is None else parameter._grad):
                        if tensor is not None:
                            _become(tensor, function(tensor.data))
                for name, buffer in module._buffers.items():
                    if buffer is not None:
                        module._buffers[name] = function(buffer)
        return self

    # ----------------------------------------------------------------------------------------------------- printing

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the module's line in print; subclasses define it."""
        return ""

    def _child_lines(self) -> Iterator[str]:
        return (f"({name}): {child!r}" for name, child in self._modules.items())

    def __repr__(self) -> str:
        return block(self._get_name(), self.extra_repr(), list(self._child_lines()))


def _hooked(hooks: WatchedDict, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    before = dict(hooks)
    if prepend:
        hooks.clear()
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.update(before)
    return handle


def _as(tensor: Tensor, dtype: DType) -> Tensor:
    if overrides(type(tensor)):
        return tensor.to(dtype)
    return tensor if tensor.dtype is dtype else cast(tensor, dtype)


def _floating_as(tensor: Tensor, dtype: DType) -> Tensor:
    return _as(tensor, dtype) if tensor.dtype.is_floating_point else tensor


def _become(tensor: Tensor, new: Tensor) -> None:
    if new.ndarray is not tensor.ndarray:
        tensor.data = new
