"""Module: the base of all layers and models. Names and rules are PyTorch's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..ops.array import eager
from ..ops.core import current
from ..ops.pointwise import cast
from ..ops.types import DType, bfloat16, float16, float32, float64
from ..tape.grad_mode import no_grad
from ..tensors.calling.conversions import conversion
from ..tensors.creation import empty_like
from ..tensors.device import as_device, require_cpu, require_cuda_name
from ..tensors.meta.memory import NO_DATA
from ..tensors.meta.meta_tensor import is_meta
from ..tensors.overriding import overrides
from ..tensors.shared_memory import share
from ..tensors.tensor import Tensor
from ..tracing.declares import Declares
from ..tracing.user_warning import warn_user
from ..tracing.watched_order import WatchedOrder
from . import state
from .calls import copying, restoring
from .calls.calling import Calling
from .calls.state_hooks import STATE_HOOKS, StateHooks, hooks_of
from .calls.tables import HOOKS, TABLES
from .option import Option
from .parameter import Parameter, is_lazy
from .printing import block
from .registry import REGISTRIES
from .rollback import default

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike

M = TypeVar("M", bound="Module")


def _parts(module: Any) -> list[Any]:
    """What a call of the module goes through: registries and hooks."""
    return [part for table in (*REGISTRIES, *HOOKS) for part in module.__dict__.get(table, {}).values()]


def _refuse_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
    if kwargs:
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
    raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")


class Module(StateHooks, Calling):
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
        apart=frozenset({*REGISTRIES, *STATE_HOOKS, "_non_persistent_buffers_set", "training"}),
        parts=_parts,
    )
    _derived: tuple[str, ...] = ()  # properties that are attributes in PyTorch, and stand in files
    _version = 1  # of the state's layout; subclasses that change theirs count up
    dump_patches = call_super_init = False  # PyTorch's switches, which mean nothing here

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes nothing: the arguments are there for type checkers, to which a class of layers is ``type[Module]``."""
        if args or kwargs:
            _refuse_arguments(type(self).__name__, args, kwargs)
        super().__init__()
        hooks = {name: WatchedOrder() for name in (*TABLES, *STATE_HOOKS)}
        dict.update(self.__dict__, hooks, _is_full_backward_hook=None)
        self.training = True

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the attributes, and what PyTorch's class of that name keeps as attributes."""
        return {**self.__dict__, **{name: getattr(self, name) for name in self._derived}}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take the attributes of a pickle or copy. A class with attributes of its own may call this, then set those."""
        restoring.restore(self, state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """What ``copy.deepcopy`` gives without this method, or with that of a class behind this one."""
        others: Any = getattr(super(), "__deepcopy__", None)
        return copying.deepcopied(self, memo) if others is None else others(memo)

    # -------------------------------------------------------------------------------------------------------- state

    def state_dict(
        self, *args: Any, destination: OrderedDict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Parameters and persistent buffers by dotted path, detached (unless `keep_vars`) and sharing memory.

        Arguments by position are deprecated, as in PyTorch. The attribute `_metadata` has each module's `_version`.
        """
        if args:
            warn_user(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
            )
            given: list[Any] = [*args, *[destination, prefix, keep_vars][len(args) :]]
            destination, prefix, keep_vars = given
        into: OrderedDict[str, Any] = OrderedDict() if destination is None else destination
        if destination is None:
            into._metadata = OrderedDict()  # type: ignore[attr-defined]
        return state.collect(self, into, prefix, keep_vars)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into `destination`; subclasses may put more there."""
        state.collect_own(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> state.IncompatibleKeys:
        """Copy values into the parameters' and buffers' memory; ``assign=True`` takes the tensors themselves.

        RuntimeError that lists everything that does not fit, TypeError if `state_dict` is no mapping. Without `strict`,
        missing and unexpected keys are no errors and are returned. Values may be numpy's arrays and PyTorch's tensors.
        Difference: all or nothing. Where PyTorch loads what fits and then raises, nothing is changed here by a call
        that raises.
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
        hook_args = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        for hook in hooks_of(self, "_load_state_dict_pre_hooks"):
            hook(*hook_args)
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

    def apply(self: M, function: Callable[[Module], object]) -> M:
        """Call ``function(module)`` for all modules below, then for this one; to initialise weights, for instance."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    # --------------------------------------------------------------------------------------------------- conversion

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Convert floating parameters and buffers to a dtype, in place: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Complex ones are converted, too, and a complex dtype is possible (with PyTorch's warning). Parameters stay the
        same objects. The only device is the CPU. TypeError for integer types.

        Unlike in PyTorch, parameters lie by rows whatever `memory_format` is: numbers are the same, results of images
        in channels last are in channels last, and compiled steps write such parameters in place. To lay the weights of
        convolutions out, use `nn.utils.convert_conv2d_weight_memory_format`. TypeError for what is no memory format.
        """
        wanted = conversion(args, kwargs)
        if wanted.copy is not None:
            raise RuntimeError(".to() does not accept copy argument")
        of = wanted.tensor
        dtype, place = (wanted.dtype, wanted.device) if of is None else (of.dtype, of.device)
        if place is not None:
            if as_device(place).type == "meta":
                self._apply(lambda x: x.to("meta"))
            else:
                require_cpu(place)
                self._require_numbers()
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype!r}"
            )
        if dtype.is_complex:
            warn_user(
                "Complex modules are a new feature under active development whose design may change, "
                "and some modules might not work as expected when using complex tensors as parameters or buffers."
            )
        return self._apply(lambda x: _as(x, dtype) if x.dtype.is_floating_point or x.dtype.is_complex else x)

    def type(self: M, dst_type: DType | str) -> M:
        """Convert all parameters and buffers to a dtype, or to the type of tensors of a name ("FloatTensor")."""
        if isinstance(dst_type, DType):
            return self._apply(lambda tensor: _as(tensor, dst_type))
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self: M) -> M:
        """``to(float32)``; complex parameters stay."""
        return self._apply(lambda tensor: _floating_as(tensor, float32))

    def double(self: M) -> M:
        """``to(float64)``; complex parameters stay."""
        return self._apply(lambda tensor: _floating_as(tensor, float64))

    def half(self: M) -> M:
        """``to(float16)``; complex parameters stay."""
        return self._apply(lambda tensor: _floating_as(tensor, float16))

    def bfloat16(self: M) -> M:
        """``to(bfloat16)``; complex parameters stay."""
        return self._apply(lambda tensor: _floating_as(tensor, bfloat16))

    def _require_numbers(self) -> None:
        """NotImplementedError where a parameter or buffer is on the device meta."""
        if any(is_meta(tensor) for tensor in (*self.parameters(), *self.buffers()) if not is_lazy(tensor)):
            raise NotImplementedError(
                f"{NO_DATA} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module "
                "from meta to a different device."
            )

    def cpu(self: M) -> M:
        """The module: it is on the CPU. NotImplementedError for one on the device meta."""
        self._require_numbers()
        return self

    def cuda(self: M, device: DeviceLike | None = None) -> M:
        """AssertionError: there is no such device. RuntimeError for a number."""
        require_cuda_name(device)
        return self

    def xpu(self: M, device: DeviceLike | None = None) -> M:
        """AssertionError: there is no such device."""
        require_cpu("xpu")
        return self

    def ipu(self: M, device: DeviceLike | None = None) -> M:
        """RuntimeError: there is no such device."""
        require_cpu("ipu")
        return self

    def mtia(self: M, device: DeviceLike | None = None) -> M:
        """AssertionError: there is no such device."""
        require_cpu("mtia")
        return self

    def to_empty(self: M, *, device: DeviceLike | None, recurse: bool = True) -> M:
        """Give all parameters and buffers new memory, whose numbers are not set, on the CPU or on the device meta."""
        where = "cpu" if device is None else device
        if as_device(where).type != "meta":
            require_cpu(where)
        return self._apply(lambda tensor: empty_like(tensor, device=where), recurse=recurse)

    def share_memory(self: M) -> M:
        """Move parameters, their gradients and buffers to memory that other processes see: `Tensor.share_memory_`."""
        tensors = [*self.parameters(), *self.buffers()]
        for uninitialized in filter(is_lazy, tensors):
            uninitialized.share_memory_()  # which raises
        share([*tensors, *(tensor.grad for tensor in tensors if tensor.grad is not None)])
        return self

    def _apply(self: M, function: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        """Replace all tensors by ``function(tensor)``; parameters and their gradients keep their identity."""
        with no_grad():
            for module in self.modules() if recurse else (self,):
                for name, parameter in list(module._parameters.items()):
                    if parameter is not None:
                        _apply_to(module._parameters, name, parameter, function)
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


def _as(tensor: Tensor, dtype: DType) -> Tensor:
    if overrides(type(tensor)):
        return tensor.to(dtype)
    return tensor if tensor.dtype is dtype else cast(tensor, dtype)


def _floating_as(tensor: Tensor, dtype: DType) -> Tensor:
    return _as(tensor, dtype) if tensor.dtype.is_floating_point else tensor


def _apply_to(entries: dict[str, Any], name: str, parameter: Any, function: Callable[[Tensor], Tensor]) -> None:
    """Give a parameter and its gradient what `function` makes of them. On another device it is another object."""
    data, gradient = parameter.data, parameter._grad
    new = function(data)
    if is_meta(new) is not is_meta(data):
        entries[name] = Parameter(new, parameter.requires_grad)
        if gradient is not None:
            entries[name].grad = function(gradient.data)
        return
    _become(parameter, data, new)
    if gradient is not None:
        data = gradient.data
        _become(gradient, data, function(data))


def _become(tensor: Tensor, old: Tensor, new: Tensor) -> None:
    if new is not old:
        tensor.data = new
