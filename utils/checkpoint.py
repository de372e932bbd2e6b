"""Activation checkpointing: intermediate values are computed again for the backward pass instead of being kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..autograd.random_state import RandomState
from ..tape.grad_mode import is_recording, switches
from ..tensors.tensor import Tensor
from ..tracing.blocks import Block
from ..tracing.settings import Setting
from ..tracing.user_warning import warn_user
from .recomputation import CheckpointError, Options, Region
from .reentrant import CheckpointFunction, check_backward_validity, detach_variable

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing: the default of `context_fn`.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import noop_context_fn
    >>> len(noop_context_fn())
    2
    """
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)`` without keeping what its derivative needs: the backward pass calls it again.

    With ``use_reentrant=False`` nothing is kept of what operations of the call save for their derivatives: the first
    of them that a backward pass asks calls `function` again, under autocast as it was, with the random state of then
    unless ``preserve_rng_state=False``, and, with `early_stop`, until the last tensor is saved again. What is saved
    must be the same number of tensors, of the same shapes, dtypes and devices, unless ``determinism_check="none"``
    (CheckpointError; with `debug` it shows the operations of both calls). `context_fn` gives one context for each call.

    With ``use_reentrant=True`` the call is one operation, a `CheckpointFunction`: its first run records nothing, the
    second has detached arguments and a backward pass of its own. One of the tensors in `args` must require gradients
    (a warning, and no gradients, if none does); of the results one tensor has them, or those in a tuple. Gradients
    cannot be differentiated again. Keyword arguments, contexts and `debug` are refused (ValueError), as are
    ``autograd.grad`` and ``backward(inputs=...)`` in the backward pass (RuntimeError).

    Difference: calls work within `func.grad`, `func.vmap` and their like, too (RuntimeError in PyTorch), where all are
    as with ``use_reentrant=False``. In a compiled function both calls are recorded: whether values are kept is the
    compiler's decision there (``memory_limit``). What stops the second call early is no ``Exception``. A tensor that
    `function` has written to since it was saved is an error in the backward pass, as it is outside of checkpoints.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import checkpoint
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: (x * x).exp().log(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if use_reentrant is None:
        warn_user(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch "
            "2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant and kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant and (context_fn is not noop_context_fn or debug):
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if use_reentrant and not switches.in_transform:  # where gradients are differentiated again
        return CheckpointFunction.apply(function, preserve, *args)
    overridden = _debug.get()
    logs = debug if overridden is None else overridden
    if logs and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of {['default', 'none']}, but got {determinism_check}")
    first, second = context_fn()
    if not is_recording():
        return function(*args, **kwargs)
    overridden = _early_stop.get()
    options = Options(early_stop if overridden is None else overridden, determinism_check == "default", logs)
    random = RandomState() if preserve else None
    return Region(function, args, kwargs, options, second, random).first(first, args)


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]], segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply modules or functions (a Sequential, or a list) one after another, in `segments` checkpointed parts.

    The last part is not checkpointed. ValueError for more segments than there are functions, and for keyword arguments
    other than `preserve_rng_state`.

    >>> import tracegrad as tg
    >>> model = tg.nn.Sequential(*[tg.nn.Tanh() for _ in range(4)])
    >>> x = tg.ones(2, requires_grad=True)
    >>> y = tg.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False)
    >>> bool((y == model(x)).all())
    True
    """
    if use_reentrant is None:
        warn_user(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly.",
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions)
    size, end = len(layers) // segments, 0
    for start in range(0, size * (segments - 1), size):  # which refuses parts of no function
        end = start + size
        part = _one_after_another(layers[start:end])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _one_after_another(layers[end:])(input)


def _one_after_another(layers: Sequence[Any]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for layer in layers:
            value = layer(value)
        return value

    return run


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the arguments besides the CPU, and the states of their generators: none.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import get_device_states
    >>> get_device_states(tg.ones(1))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Nothing is done: there are no devices besides the CPU.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import set_device_states
    >>> set_device_states([], [])
    """


#: What blocks override, None outside of them.
_early_stop: Setting[bool | None] = Setting("whether checkpoints stop early", None)
_debug: Setting[bool | None] = Setting("whether checkpoints log their operations", None)


class _Overridden(Block):
    """A block in which a setting has another value."""

    def __init__(self, setting: Setting[bool | None], wanted: bool | None) -> None:
        self._setting, self.wanted = setting, wanted

    def now(self) -> bool | None:
        return self._setting.now()

    def put(self, state: bool | None) -> None:
        self._setting.put(state)


def set_checkpoint_early_stop(enable: bool) -> Block:
    """A context in which `early_stop` of all calls of ``checkpoint`` is the argument `enable`, whatever they say.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> x = tg.tensor([0.0], requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(lambda x: (x.exp(), print("to its end"))[0], x, use_reentrant=False)
    to its end
    >>> y.backward()
    to its end
    """
    return _Overridden(_early_stop, enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Block:
    """A context in which `debug` of all calls of ``checkpoint`` is the argument `enabled` (None: what they say).

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import set_checkpoint_debug_enabled
    >>> with set_checkpoint_debug_enabled(True):
    ...     pass
    """
    return _Overridden(_debug, enabled)
