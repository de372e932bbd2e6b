"""Which tensors of a call share memory, by name: said where another way of sharing has made another program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...ops.exposure import owner_of
from ...tensors.tensor import Tensor
from .classes import is_a
from .pytree import leaves

Together = dict[tuple[str, str], Any]  # names of two tensors over one memory: how they lie to each other


def sharing(recording: Any, captured: Any, call_arguments: Any) -> Together:
    """The pairs of tensors, arguments and captured ones, that share memory in this call."""
    by_owner: dict[int, list[tuple[str, Any]]] = {}
    for name, tensor in _named(recording, captured, call_arguments):
        by_owner.setdefault(owner_of(tensor.buffer.whole), []).append((name, tensor))
    return {
        (name, other): "the same tensor" if one is two else _lie(one, two)
        for group in by_owner.values()
        for i, (name, one) in enumerate(group)
        for other, two in group[i + 1 :]
    }


def _named(recording: Any, captured: Any, call_arguments: Any) -> Iterator[tuple[str, Any]]:
    names = {path: root.node.label for path, root in recording.arguments}
    for path, leaf in leaves(call_arguments):
        if is_a(leaf, Tensor):
            yield names.get(path) or "argument " + ".".join(map(str, path[1:])), leaf
    for each in captured.all:
        now = each.now(call_arguments)
        if now is not None:
            yield each.root.node.label, now


def _lie(one: Any, two: Any) -> tuple[Any, ...]:
    address = one.ndarray.__array_interface__["data"][0] - two.ndarray.__array_interface__["data"][0]
    return address, one.ndarray.shape, one.ndarray.strides, two.ndarray.shape, two.ndarray.strides


def said_of(old: Together, new: Together) -> tuple[str, str, str]:
    """Which two tensors share memory in another way, and how they did and do; "" for all if none do."""
    for pair in {**new, **old}:
        before, now = old.get(pair), new.get(pair)
        if before != now:
            return f"the memory of {pair[0]} and {pair[1]}", _in_words(before), _in_words(now, otherwise=before)
    return "", "", ""


def _in_words(lie: Any, otherwise: Any = None) -> str:
    if lie is None:
        return "<apart>"
    if is_a(lie, str):
        return f"<{lie}>"
    return "<shared, at another place>" if is_a(otherwise, tuple) else "<shared>"
