"""What PyTorch calls ``torch.compiler``: marks for its compiler, which mean nothing to `tracegrad.compile`.

`tracegrad.compiler` is tracegrad's own; programs meet these names as ``torch.compiler``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..devices.answers import answering
from ..tracing.user_warning import warn_user

F = TypeVar("F", bound=Callable[..., Any])

is_compiling = answering("is_compiling", False, "False: a function that is compiled runs as Python once.")
is_dynamo_compiling = answering("is_dynamo_compiling", False, "False.")
is_exporting = answering("is_exporting", False, "False.")
reset = answering("reset", None, "Nothing to forget.")


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn` as it is; also with arguments in brackets."""
    return fn if callable(fn) else (lambda function: function)


def allow_in_graph(fn: Any) -> Any:
    """`fn` as it is."""
    return fn


def assume_constant_result(fn: F) -> F:
    """`fn` as it is."""
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[F], F]:
    """A decorator that returns the function as it is."""
    return lambda function: function


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """``["tracegrad"]``."""
    return ["tracegrad"]


def cudagraph_mark_step_begin() -> None:
    """Nothing: there is no such device."""
    warn_user("cudagraph_mark_step_begin() is deprecated", DeprecationWarning)


class set_stance:
    """How PyTorch's compiler is to proceed: a block (or a call) that means nothing."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        self.stance = stance

    def __call__(self, fn: F) -> F:
        return fn

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None
