"""Anomaly mode: which operation's derivative fails or is NaN, and where its forward call stands in the program."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.callers.source_files import is_own_file, is_user_file
from ..tracing.layers import Describe, current_layer
from ..tracing.tracebacks import note
from ..tracing.user_warning import warn_user
from ..tracing.watch import changes
from .nodes import Node, count_by

#: Whether every operation and every gradient is looked at, for NaN and infinities, from the start of the program.
CHECKS_ALL = os.environ.get("TRACEGRAD_CHECK_NAN", "0") not in ("", "0")


#: The attribute of an error that a derivative has raised, once that is noted.
NOTED = "_derivative_noted"


class _Mode:
    enabled = False
    check_nan = True
    numbering: _Numbering | None = None


mode = _Mode()


class _Numbering:
    """Numbers nodes, and remembers for each where the program was, and in which layer."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers
        self.places: dict[int, tuple[list[traceback.FrameSummary], Describe]] = {}

    def __next__(self) -> int:
        number: int = next(self.numbers)
        stack = [frame for frame in traceback.extract_stack()[:-1] if not is_own_file(frame.filename)]
        self.places[number] = stack, current_layer()
        return number


def is_on() -> bool:
    """Whether the mode is on, in any thread."""
    return mode.enabled


def checks_nan() -> bool:
    """Whether NaN counts as a failure where it is."""
    return mode.check_nan


def switch(enabled: bool, check_nan: bool) -> None:
    """Turn the mode on or off."""
    if enabled and mode.numbering is None:
        count_by(_numbered)
    elif not enabled and mode.numbering is not None:
        count_by(_plain)
    mode.enabled, mode.check_nan = enabled, check_nan
    changes.count += 1  # compiled functions depend on it


def _numbered(numbers: Any) -> Any:
    mode.numbering = _Numbering(numbers)
    return mode.numbering


def _plain(numbering: Any) -> Any:
    mode.numbering = None
    return numbering.numbers


def checking(backward: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """The ``backward`` of a node with a warning that shows its forward call where it fails, and an error for NaN.

    Where everything is checked, infinities of finite cotangents are errors, too.
    """
    node: Node = backward.__self__  # type: ignore[attr-defined]

    def checked(cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        try:
            gradients = backward(cotangents, wanted)
            if mode.check_nan:
                _check(node, gradients, cotangents)
        except Exception:
            _warn(node)
            raise
        return gradients

    return checked


def _check(node: Node, gradients: Sequence[Any], cotangents: Sequence[Any]) -> None:
    for i, g in enumerate(gradients):
        if g is None:
            continue
        values = eager().read(g, "detect_anomaly")
        if bool(np.isnan(values).any()):
            raise RuntimeError(f"Function '{node.title}' returned nan values in its {i}th output.")
        if CHECKS_ALL and not bool(np.isfinite(values).all()) and _are_finite(cotangents):
            raise RuntimeError(f"Function '{node.title}' returned infinite values in its {i}th output.")


def _are_finite(cotangents: Sequence[Any]) -> bool:
    return all(g is None or bool(np.isfinite(eager().read(g, "detect_anomaly")).all()) for g in cotangents)


def locate(node: Node, error: Exception) -> None:
    """Note behind the message of `error`, raised by the derivative of `node`, which operation's that is.

    Layer and line of the forward call are known where it is recorded, and in this mode.
    """
    if not getattr(error, NOTED, False):
        error.__dict__[NOTED] = True
        note(error, f"  in the derivative of {node.title}" + _forward_call(node))


def _forward_call(node: Node) -> str:
    place = None if mode.numbering is None else mode.numbering.places.get(node.sequence)
    if place is None:
        origin = node.origin if getattr(node.origin, "file", "") else None
        layer, line = ("", "") if origin is None else (origin.module, f"{origin.file}:{origin.line}")
        layer = f"layer {layer}" if layer else ""
    else:
        lines = [f"{frame.filename}:{frame.lineno}" for frame in place[0] if is_user_file(frame.filename)]
        layer, line = place[1](), lines[-1] if lines else ""
    return (f", computed in {layer}" if layer else "") + (f"\n  at {line}" if line else "")


def _warn(node: Node) -> None:
    place = None if mode.numbering is None else mode.numbering.places.get(node.sequence)
    if place is None:
        text = (
            f"Error detected in {node.title}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information."
        )
    else:
        shown = "".join(traceback.format_list(place[0]))
        text = f"Error detected in {node.title}. Traceback of forward call that caused the error:\n{shown}"
    warn_user(text)


if CHECKS_ALL:
    switch(True, True)
