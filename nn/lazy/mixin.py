"""What lazy layers have in common: the first call infers sizes, and makes the layer a plain one."""

from __future__ import annotations

from typing import Any

from ..parameter import is_lazy


class LazyModuleMixin:
    """For layers that are made without the sizes of their inputs; mixed in before the plain layer's class.

    A layer of one's own has uninitialised parameters, ``initialize_parameters(*args)``, which gives them their shapes,
    and perhaps `cls_to_become`, the class of the layer from then on. RuntimeError where that leaves one uninitialised.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyLinear(2)
    >>> out = layer(tg.ones(1, 3))
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become: type[Any] | None = None
    _parameters: Any
    _buffers: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(  # type: ignore[attr-defined]
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes and first values; called with the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(tensor) for tensor in (*self._parameters.values(), *self._buffers.values()))

    def _lazy_load_hook(self, *args: Any) -> None:
        """Nothing: `load_state_dict` gives parameters their shapes by itself. PyTorch's files name it."""

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        module._initialize_hook.remove()
        del module._initialize_hook
        if "_load_hook" in vars(module):  # of a file of PyTorch's
            module._load_hook.remove()
            del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
