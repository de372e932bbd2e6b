"""What activations share: options that print shows, and the option to overwrite the input."""

from __future__ import annotations

from ..module import Module


class _Activation(Module):
    """A function; `options` are the names of its options, which print shows."""

    options: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.options)


class InPlace(_Activation):
    """What activations with the option `inplace` share: whether they overwrite their input (default False).

    An input that is overwritten must not be a leaf that requires a gradient (RuntimeError).

    >>> import tracegrad as tg
    >>> x = tg.tensor([-1.0, 2.0])
    >>> tg.nn.ReLU(inplace=True)(x) is x
    True
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        shown = [super().extra_repr(), "inplace=True" if self.inplace else ""]
        return ", ".join(part for part in shown if part)


class _Alpha(InPlace):
    """An activation with a scale `alpha` of its negative part."""

    options = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha


class _AlongAxis(_Activation):
    """An activation over the axis `dim`."""

    options = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim
