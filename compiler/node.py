"""One value of a graph: a primitive applied to other values, with the place in the user's program it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..ops.core import Primitive
from ..ops.lazy import lazy
from ..ops.operators import Operators
from ..ops.sources import full_primitive, input_primitive
from ..ops.types import Type


@dataclass(frozen=True)
class Origin:
    """Where in the user's program a node comes from: file and line, module path (``fc1``), and ∂ for derivatives."""

    file: str = ""
    line: int = 0
    module: str = ""
    derivative: bool = False

    @property
    def place(self) -> str:
        """``model.py:4``: the file without its folder."""
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else ""

    @lazy
    def _text(self) -> str:
        return " ".join(part for part in ("∂" if self.derivative else "", self.place, self.module) if part)

    def __str__(self) -> str:
        return self._text


NOWHERE = Origin()


@dataclass(frozen=True, eq=False)
class Node(Operators):
    """One value: a primitive applied to other nodes. Operators on nodes go to the current interpreter (a Builder)."""

    op: Primitive
    args: tuple[Node, ...]
    params: tuple[tuple[str, Any], ...]
    type: Type
    origin: Origin = NOWHERE

    def param(self, name: str) -> Any:
        """The parameter called `name`; KeyError if the primitive has none."""
        return dict(self.params)[name]

    @property
    def is_input(self) -> bool:
        return self.op is input_primitive

    @property
    def is_constant(self) -> bool:
        """True for a number without dimensions, known when the graph is built."""
        return self.op is full_primitive and self.type.shape == ()

    @property
    def label(self) -> str:
        """The name of an input, empty for other nodes."""
        return str(self.param("name")) if self.is_input else ""

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.type}>"


@dataclass(frozen=True, eq=False)
class Result:
    """What a graph gives back: `node` under `name`; with `into` it overwrites the memory of that input instead.

    A result that `is_check` (bool, without dimensions) is not given back: where it is true, nothing is written.
    """

    name: str
    node: Node
    into: str | None = None
    is_check: bool = False

    @property
    def is_returned(self) -> bool:
        """True for what gets memory of its own, in a slot."""
        return self.into is None and not self.is_check


def topological(roots: Iterable[Node]) -> list[Node]:
    """Operands before users, without recursion (deep nets)."""
    order: dict[Node, None] = {}
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [] if node in order else [a for a in node.args if a not in order]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                order[stack.pop()] = None  # keeps the place that it has, if it was met on another way
    return list(order)
