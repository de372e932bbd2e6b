"""Docstrings of generated forms: methods, in-place forms and other names, made of the function's docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .in_place_examples import SHOWN

_PROMPT = ">>>"


def text_of(function: Callable[..., Any]) -> str:
    """What the docstring of a function says in front of its example."""
    return (inspect.unwrap(function).__doc__ or "").partition(_PROMPT)[0].strip()


def headed(head: str, doc: str) -> str:
    """`doc` below another first line, indented as docstrings in functions are."""
    return f"{head}\n\n    {doc}"


def method_form(doc: str, name: str) -> str:
    """The docstring of the method `name`, the function of which has `doc`."""
    return headed(f"Method form of the function `{name}`, whose first operand is this tensor.", doc)


def other_name(doc: str, name: str) -> str:
    """The docstring of a function under another name than `name`."""
    return headed(f"Another name of `{name}`.", doc)


def described(form: Any, function: Callable[..., Any], name: str, doc: str) -> Any:
    """`form`, called `name`, with the signature of `function` and a docstring."""
    form.__name__ = form.__qualname__ = name
    form.__wrapped__, form.__doc__ = function, doc
    return form


def in_place_form(function: Callable[..., Any], name: str, is_method: bool) -> str:
    """The docstring of `function`'s in-place form `name`."""
    head = f"`{name[:-1]}`, stored in the memory of {'this tensor' if is_method else '`input`'}, which is returned."
    errors = (
        "RuntimeError for a leaf that requires a gradient, and where this tensor cannot hold the result:\n    "
        "another shape, or a type of a higher kind."
    )
    return headed(head, "\n\n    ".join([text_of(function), errors, example(function, name, is_method)]))


def view_form(function: Callable[..., Any], name: str) -> str:
    """The docstring of the method `name`, which makes a tensor another view of its memory."""
    head = f"`{name[:-1]}` of the tensor itself, which becomes that view of its memory and is returned."
    return headed(head, "\n\n    ".join([text_of(function), example(function, name, True)]))


def example(function: Callable[..., Any], name: str, is_method: bool, module: str = "tg") -> str:
    """A call of the in-place form `name` of a function and what it shows."""
    own_name = name[:-1] if name[:-1] in SHOWN else inspect.unwrap(function).__name__
    operand, arguments, shown = SHOWN[own_name]
    of_function = f"{module}.{name}({operand}{', ' if arguments else ''}{arguments})"
    call = f"{operand}.{name}({arguments})" if is_method else of_function
    lines = (f"{_PROMPT} import tracegrad as tg", f"{_PROMPT} {call}", *shown.split("\n"))
    return "\n    ".join(lines) + "\n    "
