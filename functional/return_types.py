"""What functions with several results return: named tuples, a class for each function, as in PyTorch."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def _returned(function: str, *fields: str) -> Any:
    """The class of what `function` returns."""

    def shown(self: Any) -> str:
        parts = ",\n".join(f"{name}={value!r}" for name, value in zip(fields, self, strict=True))
        return f"tracegrad.return_types.{function}(\n{parts})"

    members = {"__slots__": (), "__module__": __name__, "__repr__": shown, "__doc__": f"What `{function}` returns."}
    return type(function, (namedtuple(function, fields),), members)  # noqa: PYI024


max = _returned("max", "values", "indices")
min = _returned("min", "values", "indices")
sort = _returned("sort", "values", "indices")
topk = _returned("topk", "values", "indices")
median = _returned("median", "values", "indices")
