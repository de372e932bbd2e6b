"""How tensors print: PyTorch's layout, number by number (4 digits, scientific where the range asks for it)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.types import bfloat16, bool_, complex_of, dtype_of, float16, float64, get_default_dtype, int64
from ..tape.tangents import levels
from .overriding import PLAIN


@dataclass(frozen=True)
class PrintOptions:
    """What `set_printoptions` sets: digits, when to shorten, how many items to show at the edges, line width."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=float("inf")),
}
_options = [PrintOptions()]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; options that are left out stay, but for `sci_mode`, which is automatic without it.

    `precision` digits behind the point (4); `threshold` is the number of elements (1000) from which on only `edgeitems`
    (3) show at each end of an axis; lines have `linewidth` characters (80). `profile` is "default", "short" or "full";
    any other changes nothing, as in PyTorch.

    >>> import tracegrad as tg
    >>> tg.set_printoptions(precision=2)
    >>> tg.tensor([3.14159])
    tensor([3.14])
    >>> tg.set_printoptions(profile="default")
    """
    start = PROFILES.get(profile or "", _options[0])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options[0] = replace(start, **{k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)  # type: ignore[arg-type]


def format_tensor(tensor: Any, values: np.ndarray) -> str:
    """``tensor([8., 8.], grad_fn=<MulBackward0>)``; the name of a subclass stands for ``tensor``."""
    options = _options[0]
    plain = type(tensor) in PLAIN
    prefix = "tensor(" if plain else f"{type(tensor).__name__}("
    suffixes = _suffixes(tensor, values)
    if values.size == 0 and values.ndim > 1:
        suffixes.insert(0, f"size={tuple(values.shape)}")
    if dtype_of(values) in (float16, bfloat16):
        values = values.astype(np.float64)
    body = _body(values, len(prefix), options)
    text = _with_suffixes(prefix + body, suffixes, len(prefix), options.linewidth)
    return f"Parameter({text})" if tensor.is_parameter and not plain else text


def format_sparse(tensor: Any) -> str:
    """The places, the values and the size of a sparse tensor, one below the other."""
    parts = []
    for name, part in (("indices", tensor._indices()), ("values", tensor._values())):
        head, values = f"{name}=tensor(", eager().read(part, "print(tensor)")
        body = _body(values, len("tensor(") + len(head), _options[0])
        # PyTorch tells the size of what is empty, and no type: that stands behind
        parts.append(f"{head}{body}" + (f", size={tuple(values.shape)})" if values.size == 0 else ")"))
    about = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    suffixes = [text for text in _suffixes(tensor, tensor._values().ndarray) if text]
    places = next((i for i, text in enumerate(suffixes) if not text.startswith("dtype")), len(suffixes))
    suffixes.insert(places, f"layout={tensor.layout!r}")
    indent = len("tensor(")
    text = f",\n{' ' * indent}".join(["tensor(" + parts[0], parts[1], ", ".join(about)])
    return _with_suffixes(text, suffixes, indent, _options[0].linewidth)


def _suffixes(tensor: Any, values: np.ndarray) -> list[str]:
    dtype = dtype_of(values)
    implied = dtype in (get_default_dtype(), complex_of(get_default_dtype()), int64, bool_) and (
        values.size > 0 or dtype is get_default_dtype()
    )
    suffixes = [] if implied else [f"dtype={dtype!r}"]
    invalid = not tensor.is_sparse and tensor.is_ambiguous()
    node = None if invalid else tensor.grad_fn
    if invalid or node is not None:
        suffixes.append(f"grad_fn=<{'Invalid' if node is None else node.title}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    if levels.open is not None and levels.open.has_tangent(tensor):
        suffixes.append(f"tangent={levels.open.tangent_of(tensor)!r}")
    return suffixes


def _with_suffixes(text: str, suffixes: list[str], indent: int, width: int) -> str:
    last = len(text) - text.rfind("\n") - 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > width:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"


def _body(values: np.ndarray, indent: int, options: PrintOptions) -> str:
    if values.size == 0:
        return "[]"
    summarise = values.size > options.threshold
    shown = _edges(values, options.edgeitems) if summarise else values
    return _nested(values, indent, summarise, _number_format(shown, options), options)


def _edges(values: np.ndarray, edge: int) -> np.ndarray:
    for axis, extent in enumerate(values.shape):
        if extent > 2 * edge:
            values = np.take(values, [*range(edge), *range(extent - edge, extent)], axis=axis)
    return values


@dataclass(frozen=True)
class _Column:
    """How the numbers of one tensor are written: all of them `width` wide."""

    write: Callable[[Any], str]
    width: int


def _number_format(values: np.ndarray, options: PrintOptions) -> _Column:
    if values.dtype.kind == "c":
        real, imaginary = _number_format(values.real, options), _number_format(values.imag, options)
        width = real.width + imaginary.width + 1
        return _Column(lambda v: _complex(real.write(v.real), imaginary.write(v.imag)), width)
    if values.dtype.kind == "b":
        write: Callable[[Any], str] = lambda v: str(bool(v))  # noqa: E731
    elif values.dtype.kind in "iu":
        write = lambda v: str(int(v))  # noqa: E731
    else:
        write = _float_format(values, options)
    # Zeros, infinities and NaN do not widen the columns, as in PyTorch.
    counted = values.ravel() if values.dtype.kind != "f" else values[np.isfinite(values) & (values != 0)]
    width = max((len(write(v)) for v in counted), default=1)
    return _Column(lambda v: write(v).rjust(width), width)


def _complex(real: str, imaginary: str) -> str:
    imaginary = imaginary.lstrip()
    return real + ("" if imaginary[0] in "+-" else "+") + imaginary + "j"


def _float_format(values: np.ndarray, options: PrintOptions) -> Callable[[Any], str]:
    size = np.abs(values.ravel()[np.isfinite(values.ravel()) & (values.ravel() != 0)].astype(np.float64))
    if size.size == 0:
        return lambda v: f"{v:.0f}." if np.isfinite(v) else f"{v}"
    low, high = size.min(), size.max()
    digits = options.precision
    if np.all(size == np.ceil(size)):
        if _scientific(high / low > 1000 or high > 1e8, options):
            return lambda v: f"{v:.{digits}e}"
        return lambda v: f"{v:.0f}." if np.isfinite(v) else f"{v}"
    if _scientific(high / low > 1000 or high > 1e8 or low < 1e-4, options):
        return lambda v: f"{v:.{digits}e}"
    return lambda v: f"{v:.{digits}f}"


def _scientific(automatic: bool, options: PrintOptions) -> bool:
    return bool(automatic) if options.sci_mode is None else options.sci_mode


def _nested(values: np.ndarray, indent: int, summarise: bool, column: _Column, options: PrintOptions) -> str:
    if values.ndim == 0:
        return column.write(values.item() if values.dtype != float64.numpy else values[()]).strip()
    if values.ndim == 1:
        return _row(values, indent, summarise, column, options)
    edge = options.edgeitems
    rows: list[Any] = list(values)
    if summarise and len(rows) > 2 * edge:
        rows = [*rows[:edge], None, *rows[-edge:]]
    parts = ["..." if r is None else _nested(r, indent + 1, summarise, column, options) for r in rows]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _row(values: np.ndarray, indent: int, summarise: bool, column: _Column, options: PrintOptions) -> str:
    edge, write = options.edgeitems, column.write
    if summarise and len(values) > 2 * edge:
        words = [*map(write, values[:edge]), " ...", *map(write, values[-edge:])]
    else:
        words = list(map(write, values))
    per_line = max(1, (options.linewidth - indent) // (column.width + 2))
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
