"""What people read of a pointwise op: its signature under PyTorch's names, and a docstring made of its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..types import DType, bool_, complex64, float32, int64

#: What PyTorch calls the operands of its functions.
_PUBLIC_NAMES = {"x": "input", "y": "other"}
#: One type of each kind, by which a domain is told.
_KINDS = {"floats": float32, "complex numbers": complex64, "integers": int64, "bool": bool_}
_PROMPT = ">>>"


class Doc(NamedTuple):
    """What an op computes, an example, and what that shows."""

    what: str
    example: str
    shown: str


def signature_of(inputs: Sequence[str], numbers: Sequence[str] = ()) -> inspect.Signature:
    """The public signature; the operands called `numbers` may be Python's numbers."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(_PUBLIC_NAMES.get(i, i), kind, annotation="Tensor | Number" if i in numbers else "Tensor")
        for i in inputs
    ]
    return inspect.Signature(parameters, return_annotation="Tensor")


def docstring(doc: Doc, count: int, types: str) -> str:
    """The docstring, indented as others are, of an op of `count` operands, whose types are told by `types`."""
    shapes = "The shape is that of `input`." if count == 1 else "Shapes are broadcast, types promoted to one."
    example = f"{_PROMPT} import tracegrad as tg\n{_PROMPT} {doc.example}\n{doc.shown}\n"
    return f"{doc.what}\n\n{shapes}\n{types}\n\n{example}".replace("\n", "\n    ").replace("    \n", "\n")


def types_told(result_of: Callable[[DType], DType]) -> str:
    """What becomes of each kind of element type, in words; `result_of` gives the result's type or raises."""
    outcomes: dict[str, list[str]] = {}
    for kind, dtype in _KINDS.items():
        outcomes.setdefault(_outcome(result_of, dtype), []).append(kind)
    if len(outcomes) == 1:
        return {"give": "The result is bool.", "keep": "Every type is kept."}[next(iter(outcomes)).split()[1]]
    errors_last = sorted(outcomes.items(), key=lambda entry: entry[0][:2] != "{}")
    told = "; ".join(outcome.format(_listed(kinds)) for outcome, kinds in errors_last)
    return f"{told[0].upper()}{told[1:]}."


def _outcome(result_of: Callable[[DType], DType], dtype: DType) -> str:
    try:
        result = result_of(dtype)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        return f"{type(error).__name__} for {{}}"
    if result is bool_ and result_of(int64) is bool_:
        return "{} give bool"
    if result is dtype:
        return "{} keep their type"
    return "{} give the type of their parts" if dtype.is_complex else "{} give the default type (float32)"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def describe(op: Any, inputs: Sequence[str], numbers: Sequence[str], doc: Doc | None, types: str) -> None:
    """Give `op` its public signature and docstring."""
    op.__signature__ = signature_of(inputs, numbers)
    if doc is not None:
        op.__doc__ = docstring(doc, len(inputs), types)
