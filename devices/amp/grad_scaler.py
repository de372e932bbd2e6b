"""GradScaler: a factor on losses that keeps small gradients from becoming zero in float16."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...ops.comparison import isfinite
from ...ops.types import float16, float32, int32
from ...tape.grad_mode import no_grad
from ...tensors.creation import full
from ...tensors.tensor import Tensor
from ...tracing.declares import Declares
from ...tracing.user_warning import warn_user

if TYPE_CHECKING:
    from ...optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has been done with an optimizer since the last ``update()``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _untouched() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf": None}


class GradScaler:
    """Scales losses, unscales gradients, and leaves out steps whose gradients are not finite.

    ``GradScaler("cpu")`` does so; ``GradScaler("cuda")``, the default, warns and does nothing, as in PyTorch without
    CUDA: ``scale(loss)`` is the loss, ``step(optimizer)`` is ``optimizer.step()``. `init_scale` is the first factor; a
    step that was left out multiplies it by `backoff_factor`, `growth_interval` steps in a row by `growth_factor`.
    AssertionError for factors that do not grow or shrink.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer, scaler = tg.optim.SGD([w], lr=0.5), tg.amp.GradScaler("cpu")
    >>> scaler.scale(w.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.tolist(), scaler.get_scale()
    ([0.5, 0.5], 65536.0)
    """

    # What has become of an optimizer since the last update() is written by each call before it is read.
    _declares = Declares(attributes=True, apart=frozenset({"_per_optimizer_states"}))

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = bool(enabled)
        if device == "cuda" and enabled:
            message = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warn_user(message)
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError(f"The growth factor must be > 1.0. It is {growth_factor}")
            if backoff_factor >= 1.0:
                raise AssertionError(f"The backoff factor must be < 1.0. It is {backoff_factor}")
            self._init_scale = init_scale
            self._scale: Tensor | None = None
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Tensor | None = None
            self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_untouched)

    # ------------------------------------------------------------------------------------------------------- a step

    def scale(self, outputs: Any) -> Any:
        """`outputs`, a tensor or iterables of tensors, times the factor. ValueError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = full((), self._init_scale, dtype=float32)
                self._growth_tracker = full((), self._init_growth_tracker, dtype=int32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError(f"outputs must be a Tensor or an iterable of Tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of the optimizer's parameters by the factor: to be called before they are clipped.

        RuntimeError for a second call since the last ``update()``, ValueError for gradients of float16.
        """
        if not self._enabled:
            return
        scale, _ = self._state_for("unscale_")
        found = self._per_optimizer_states[id(optimizer)]
        if found["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if found["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        with no_grad():
            found["found_inf"] = self._unscaled(_gradients(optimizer), inverse)
        found["stage"] = OptState.UNSCALED

    def _unscaled(self, gradients: list[Any], inverse: Any) -> list[Any]:
        """Scale `gradients` in place; for each a truth value: something in it is not finite."""
        infinite = []
        for gradient in gradients:
            infinite.append(~isfinite(gradient).all())
            gradient.copy_((gradient.float() * inverse).to(gradient.dtype))
        return infinite

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args)``, unless a gradient is infinite or NaN; gradients are unscaled if they are not yet.

        RuntimeError for a second call since the last ``update()``, and for a closure. In a compiled function the
        decision needs numbers, so calls are re-recorded around it.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._state_for("step")
        found = self._per_optimizer_states[id(optimizer)]
        if found["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if found["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not found["found_inf"]:
            raise AssertionError("No inf checks were recorded for this optimizer. No parameter has a gradient.")
        result = None if _any(found["found_inf"]) else optimizer.step(*args, **kwargs)
        found["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Let the factor shrink if a step was left out, grow after enough that were not; or set it to `new_scale`."""
        if not self._enabled:
            return
        scale, tracker = self._state_for("update")
        if new_scale is not None:
            scale.copy_(new_scale) if isinstance(new_scale, Tensor) else scale.fill_(float(new_scale))
        else:
            found = [one for each in self._per_optimizer_states.values() for one in each["found_inf"] or ()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update. Call step(optimizer) before.")
            self._adapt(scale, tracker, _any(found))
        self._per_optimizer_states = defaultdict(_untouched)

    def _adapt(self, scale: Any, tracker: Any, is_infinite: bool) -> None:
        steps = 0 if is_infinite else int(tracker.item()) + 1
        if is_infinite:
            scale.mul_(self._backoff_factor)
        elif steps == self._growth_interval:
            larger = scale * self._growth_factor
            if bool(isfinite(larger)):
                scale.copy_(larger)
            steps = 0
        tracker.fill_(steps)

    def _state_for(self, name: str) -> tuple[Any, Any]:
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale, self._growth_tracker

    # ------------------------------------------------------------------------------------------------------ options

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor; 1.0 if it does nothing."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """What the factor grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps in a row the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps in a row the factor grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    # -------------------------------------------------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """What a later run goes on from, as PyTorch's names and numbers; empty if it does nothing."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict()`` gave. RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration.")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker())
            state.update(_scale=None, _growth_tracker=None)
        return state


def _gradients(optimizer: Optimizer) -> list[Any]:
    found = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    if any(gradient.dtype is float16 for gradient in found):
        raise ValueError("Attempting to unscale FP16 gradients. Keep the parameters in float32.")
    return found


def _any(found: list[Any]) -> bool:
    """Whether one of the truth values is true."""
    total = found[0]
    for each in found[1:]:
        total = total | each
    return bool(total)
