"""Complex numbers where there is no order, or PyTorch has no function of them: errors in its words."""

from __future__ import annotations

from ..types import DType

_NOT_IMPLEMENTED = "\"{}\" not implemented for '{}'; take its .real, .imag or .abs()"
#: PyTorch's names of the functions, where they differ from ours.
_KERNELS = {
    "erf": "erf_vml_cpu", "round": "round_vml_cpu", "floor_divide": "div_floor_cpu", "trunc_divide": "div_trunc_cpu",
    "div_floor": "div_floor_cpu",
    "amax": "max_values_cpu", "amin": "min_values_cpu", "max_all": "max_all", "min_all": "min_all",
}  # fmt: skip
_MESSAGES: dict[str, tuple[type[Exception], str]] = {
    "maximum": (RuntimeError, "maximum not implemented for complex tensors."),
    "minimum": (RuntimeError, "minimum not implemented for complex tensors."),
    "relu": (NotImplementedError, "clamp is not supported for complex types. Take the .real part, or .abs()."),
    "hardtanh": (NotImplementedError, "clamp is not supported for complex types. Take the .real part, or .abs()."),
    "floor": (NotImplementedError, "floor is not supported for complex inputs"),
    "ceil": (NotImplementedError, "ceil is not supported for complex inputs"),
    "trunc": (NotImplementedError, "trunc is not supported for complex inputs"),
    "sign": (
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    "argmax": (RuntimeError, "argmax(): does not support complex input"),
    "argmin": (RuntimeError, "argmin(): does not support complex input"),
    "argsort": (RuntimeError, "Sort does not support complex dtypes on CPU"),
}


def refuse_complex(name: str, dtype: DType) -> None:
    """The error of the function `name` for complex numbers; nothing for others."""
    if dtype.is_complex:
        error, message = _MESSAGES.get(name) or (
            NotImplementedError,
            _NOT_IMPLEMENTED.format(_KERNELS.get(name, f"{name}_cpu"), dtype.title),
        )
        raise error(message)
