"""Where two results differ: in kind, dtype, shape, requires_grad, strides of views, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .conversion import is_tensor, numbers

#: Tolerances by dtype, relative and absolute: those of torch.testing.assert_close, smaller ones for float64. The
#: relative one counts from the largest number of a tensor as well, because both libraries add in orders of their own;
#: the absolute one is what remains where numbers cancel (1e-11 in the gradient of rms_norm of one number).
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1e-5, 1e-5),
    "complex64": (1e-5, 1e-5),
    "float64": (1e-9, 1e-10),
    "complex128": (1e-9, 1e-10),
}  # fmt: skip


def difference(expected: Any, got: Any, values: bool = True) -> str:
    """What differs between PyTorch's result and tracegrad's, "" if nothing; `values` False: not the numbers."""
    if is_tensor(expected):
        return _tensor_difference(expected, got, values) if is_tensor(got) else f"{type(got).__name__}, not a tensor"
    if isinstance(expected, (list, tuple)):
        return _sequence_difference(expected, got, values)
    if isinstance(expected, dict):
        if not isinstance(got, dict) or list(expected) != list(got):
            return f"{type(got).__name__} with other keys"
        return _sequence_difference(list(expected.values()), list(got.values()), values)
    if isinstance(expected, (bool, int, float, complex)) and isinstance(got, (bool, int, float, complex)):
        if type(expected) is not type(got):
            return f"{type(got).__name__}, not {type(expected).__name__}"
        same = not values or np.isclose(got, expected, rtol=1e-9, atol=0, equal_nan=True)
        return "" if same else f"{got!r}, not {expected!r}"
    return "" if str(expected).replace("torch", "tracegrad") == str(got).replace("torch", "tracegrad") else repr(got)


def _sequence_difference(expected: Any, got: Any, values: bool) -> str:
    if not isinstance(got, (list, tuple)):
        return f"{type(got).__name__}, not a sequence"
    if len(expected) != len(got):
        return f"{len(got)} results, not {len(expected)}"
    missing = [name for name in _fields(expected) if not hasattr(got, name)]
    if missing:
        return f"the result has no attribute {missing[0]!r}"
    found = ((i, difference(e, g, values)) for i, (e, g) in enumerate(zip(expected, got, strict=True)))
    return next((f"result {i}: {problem}" for i, problem in found if problem), "")


def _fields(sequence: Any) -> list[str]:
    """The names of a structseq's fields."""
    if not hasattr(sequence, "n_fields"):
        return []
    own = (name for name in dir(type(sequence)) if name[:1] != "_" and name[:2] != "n_")
    return [name for name in own if name not in ("count", "index")]


def _tensor_difference(expected: Any, got: Any, values: bool) -> str:
    name, own = (str(x.dtype).rpartition(".")[2] for x in (expected, got))
    if name != own:
        return f"dtype {own}, not {name}"
    if tuple(expected.shape) != tuple(got.shape):
        return f"shape {tuple(got.shape)}, not {tuple(expected.shape)}"
    if expected.requires_grad != got.requires_grad:
        return f"requires_grad {got.requires_grad}"
    return number_difference(numbers(expected), numbers(got), TOLERANCES.get(name)) if values else ""


def number_difference(expected: np.ndarray, got: np.ndarray, tolerance: tuple[float, float] | None) -> str:
    """The largest difference if it is more than the tolerance (None: there may be none)."""
    if not expected.size:
        return ""
    if not tolerance:
        return "" if np.array_equal(expected, got) else _first(expected != got, expected, got)
    with np.errstate(all="ignore"):
        finite = np.abs(expected[np.isfinite(expected)]).astype(np.float64)
        scale = float(finite.max()) if finite.size else 0.0
        relative, absolute = tolerance
        close = np.isclose(got, expected, rtol=relative, atol=relative * scale + absolute, equal_nan=True)
    return "" if close.all() else _first(~close, expected, got)


def _first(where: np.ndarray, expected: np.ndarray, got: np.ndarray) -> str:
    at = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{int(where.sum())} of {where.size} numbers, e.g. {got[at]!r}, not {expected[at]!r} at {at}"


def view_difference(expected: Any, got: Any, torch_inputs: list[Any], inputs: list[Any]) -> str:
    """Whether a result is a view where PyTorch's is, with its strides."""
    if not is_tensor(expected) or not expected.numel():
        return ""
    memory = expected.untyped_storage().data_ptr()
    viewed = [i for i, x in enumerate(torch_inputs) if x.numel() and x.untyped_storage().data_ptr() == memory]
    shares = any(_share_memory(got, x) for x in inputs if x.numel())
    if bool(viewed) != shares:
        return "a copy, not a view" if viewed else "a view, not a copy"
    strides = [(a, b) for n, a, b in zip(expected.shape, expected.stride(), got.stride(), strict=True) if n > 1]
    if viewed and any(a != b for a, b in strides):
        return f"strides {tuple(got.stride())}, not {tuple(expected.stride())}"
    return ""


def _share_memory(got: Any, given: Any) -> bool:
    """Whether elements overlap, or are parts of one memory."""
    return got.buffer.whole is given.buffer.whole or np.shares_memory(got.detach().numpy(), given.detach().numpy())
