"""``assert_close``: an AssertionError that says how far apart two values are, in PyTorch's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.types import DType, bfloat16, complex64, complex128, dtype_of, float16, float32, float64, promote_types
from ...tensors.creation import from_numpy
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user

#: (relative, absolute) tolerances by type; others are compared exactly.
PRECISIONS = {
    float16: (1e-3, 1e-5), bfloat16: (1.6e-2, 1e-5), float32: (1.3e-6, 1e-5), float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5), complex128: (1e-7, 1e-7),
}  # fmt: skip


@dataclass(frozen=True)
class _Options:
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool


class _Mismatch(Exception):
    """What differs, and where in the containers."""

    def __init__(self, message: str, path: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.path = path

    def __str__(self) -> str:
        where = "".join(f"[{item!r}]" for item in self.path)
        return f"{self.args[0]}\n\nThe failure occurred for item {where}" if self.path else str(self.args[0])


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless ``|actual - expected| <= atol + rtol * |expected|``, with equal shapes and types.

    Tensors, numpy arrays, numbers, None, and sequences and mappings of them. Tolerances follow from the type (float32:
    1.3e-6 and 1e-5; integers exactly) unless both are given. ValueError if only one is, TypeError for other objects.
    `msg` replaces the text, or is a function of it.

    >>> import tracegrad as tg
    >>> tg.testing.assert_close(tg.ones(2), tg.ones(2) + 1e-7)
    >>> tg.testing.assert_close([1, 2], [1, 3])
    Traceback (most recent call last):
    ...
    AssertionError: Scalars are not equal!
    <BLANKLINE>
    Expected 3 but got 2.
    Absolute difference: 1
    Relative difference: 0.3333333333333333
    <BLANKLINE>
    The failure occurred for item [1]
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        which = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {which}.")
    options = _Options(allow_subclasses, rtol, atol, equal_nan, check_dtype, check_stride)
    try:
        for path, one, other in _pairs(actual, expected, options, ()):
            _compare(path, one, other, options)
    except _Mismatch as difference:
        text = str(difference)
        if msg is not None:
            text = msg(text) if callable(msg) else msg
    else:
        return
    raise AssertionError(text)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _pairs(
    actual: Any, expected: Any, options: _Options, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """What is compared, and where in the containers."""
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise _Mismatch(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(one, other, options, (*path, i))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _same_keys(actual, expected, path)
        for key in sorted(actual, key=str):
            yield from _pairs(actual[key], expected[key], options, (*path, key))
    else:
        yield path, actual, expected


def _same_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any], path: tuple[Any, ...]) -> None:
    missing, more = set(expected) - set(actual), set(actual) - set(expected)
    if missing or more:
        lines = ["The keys of the mappings do not match:"]
        if missing:
            lines.append(f"Missing keys in the actual mapping: {sorted(missing, key=str)}")
        if more:
            lines.append(f"Additional keys in the actual mapping: {sorted(more, key=str)}")
        raise _Mismatch("\n".join(lines), path)


def _compare(path: tuple[Any, ...], actual: Any, expected: Any, options: _Options) -> None:
    kinds = (type(actual), type(expected))
    if actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}", path)
    elif all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        if bool(actual) is not bool(expected):
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}", path)
    elif all(issubclass(kind, (int, float, complex, np.number)) for kind in kinds):
        _compare_numbers(path, actual, expected, options)
    elif all(issubclass(kind, (Tensor, np.ndarray)) for kind in kinds) and _are_related(*kinds, options):
        _compare_tensors(path, _tensor(actual), _tensor(expected), options)
    else:
        raise TypeError(f"No comparison pair was able to handle inputs of type {kinds[0]} and {kinds[1]}.")


def _are_related(one: type, other: type, options: _Options) -> bool:
    return one is other or (options.allow_subclasses and (issubclass(one, other) or issubclass(other, one)))


def _tensor(value: Any) -> Any:
    return from_numpy(value) if isinstance(value, np.ndarray) else value.detach()


def _tolerances(options: _Options, *dtypes: DType) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    found = [PRECISIONS.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


# ------------------------------------------------------------------------------------------------------- numbers


def _compare_numbers(path: tuple[Any, ...], actual: Any, expected: Any, options: _Options) -> None:
    kinds = [_plain_kind(type(value)) for value in (actual, expected)]
    if options.check_dtype and kinds[0] is not kinds[1]:
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)
    rtol, atol = _tolerances(options, *(dtype_of(np.int64(0)) if kind is int else float64 for kind in kinds))
    apart = abs(actual - expected)
    if actual == expected or (options.equal_nan and actual != actual and expected != expected):
        return
    if math.isfinite(apart) and apart <= atol + rtol * abs(expected):
        return
    exactly = rtol == 0 and atol == 0
    relative = apart / abs(expected) if expected != 0 else math.inf
    allowed = ("", "") if exactly else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    raise _Mismatch(
        f"Scalars are not {'equal' if exactly else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {apart}{allowed[0]}\nRelative difference: {relative}{allowed[1]}",
        path,
    )


def _plain_kind(kind: type) -> type:
    for plain in (bool, int, float, complex):
        if issubclass(kind, plain):
            return plain
    return {"i": int, "u": int, "f": float, "c": complex}[np.dtype(kind).kind]


# ------------------------------------------------------------------------------------------------------- tensors


def _attribute(path: tuple[Any, ...], name: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        raise _Mismatch(f"The values for attribute '{name}' do not match: {actual} != {expected}.", path)


def _compare_tensors(path: tuple[Any, ...], actual: Any, expected: Any, options: _Options) -> None:
    _attribute(path, "shape", actual.shape, expected.shape)
    if options.check_stride:
        _attribute(path, "stride()", actual.stride(), expected.stride())
    if options.check_dtype:
        _attribute(path, "dtype", actual.dtype, expected.dtype)
    rtol, atol = _tolerances(options, actual.dtype, expected.dtype)
    one, other = (_wide(x, promote_types(actual.dtype, expected.dtype)) for x in (actual, expected))
    matches = np.isclose(one, other, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not matches.all():
        raise _Mismatch(_differences(one, other, matches, rtol, atol), path)


def _wide(x: Any, dtype: DType) -> np.ndarray:
    array: np.ndarray = x.to(float64 if dtype.is_floating_point else dtype).numpy()
    if dtype.is_complex:
        return array.astype(np.complex128)
    return array.astype(np.float64 if dtype.is_floating_point else np.int64)


def _differences(actual: np.ndarray, expected: np.ndarray, matches: np.ndarray, rtol: float, atol: float) -> str:
    exactly = rtol == 0 and atol == 0
    with np.errstate(all="ignore"):
        apart = np.where(matches, 0, np.abs(actual - expected))
        relative = np.where(matches, 0, apart / np.abs(expected))
    word = "equal" if exactly else "close"
    if actual.ndim == 0:
        lines = [f"Scalars are not {word}!", "", f"Expected {expected.item()} but got {actual.item()}."]
        lines.append(_line("Absolute difference", apart.item(), "", atol, exactly))
        return "\n".join([*lines, _line("Relative difference", relative.item(), "", rtol, exactly)])
    count, total = int((~matches).sum()), matches.size
    lines = [f"Tensor-likes are not {word}!", "", f"Mismatched elements: {count} / {total} ({count / total:.1%})"]
    for title, values, allowed in (("absolute", apart, atol), ("relative", relative, rtol)):
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        index = f" at index {tuple(int(i) for i in place)}"
        lines.append(_line(f"Greatest {title} difference", values[place].item(), index, allowed, exactly))
    return "\n".join(lines)


def _line(title: str, value: Any, index: str, allowed: float, exactly: bool) -> str:
    return f"{title}: {value}{index}" + ("" if exactly else f" (up to {allowed} allowed)")


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Deprecated: `assert_close` without a look at types, where NaN is equal to NaN."""
    message = "`torch.testing.assert_allclose()` is deprecated. Please use `torch.testing.assert_close()` instead."
    warn_user(message, FutureWarning)
    actual, expected = (x if isinstance(x, Tensor) else from_numpy(np.asarray(x)) for x in (actual, expected))
    if rtol is None and atol is None:
        found = [{float32: (1e-4, 1e-5), float64: (1e-5, 1e-8), float16: (1e-3, 1e-3), bfloat16: (1e-2, 1e-2)}.get(
            x.dtype, (0.0, 0.0)) for x in (actual, expected)]  # fmt: skip
        rtol, atol = max(r for r, _ in found), max(a for _, a in found)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
