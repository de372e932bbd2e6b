"""What the innermost loop of a stage need not do in each of its turns.

C compilers take loads and products out of a loop by themselves, but not what they would have to branch around: a load
that only one side of a choice asks for stays inside with its branch and all that depends on it, and such a loop does
not become one of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..schedule.index import Index, Loaded, Variable
from ..schedule.live import form_cost
from ..schedule.records import (
    Condition,
    Let,
    Load,
    Local,
    Operand,
    Stage,
    Statement,
    Store,
    Value,
    indices,
    operands_in,
)

#: A choice between two elements of its own type.
_CHOICE, _SIDES = "{condition} ? {x} : {y}", ("x", "y")


def invariants(stage: Stage) -> tuple[tuple[Let, ...], tuple[Statement, ...]]:
    """The values that are the same in all turns of the innermost loop, and what remains inside. None are taken out
    where all that stays the same are sums, products and loads without a branch."""
    if not stage.loops:
        return (), stage.body
    written = {statement.buffer for statement in stage.body if isinstance(statement, Store)}
    found = _Invariants({stage.loops[-1].name}, written)
    inside = tuple(rest for statement in stage.body for rest in found.rest(statement))
    return (tuple(found.around), inside) if found.are_worth_it else ((), stage.body)


@dataclass
class _Invariants:
    """What has been found of a stage: names that vary, with the innermost loop's first; `written` memory may change."""

    varying: set[str]
    written: set[str]
    around: list[Let] = field(default_factory=list)
    are_worth_it: bool = False

    def rest(self, statement: Statement) -> tuple[Statement, ...]:
        """What remains of a statement inside the innermost loop."""
        if not isinstance(statement, Let):
            return (statement,)
        if not any(map(self._varies, operands_in(statement))):
            self.around.append(statement)
            self.are_worth_it |= _is_choice(statement) or form_cost(statement.form) > 1
            return ()
        self.varying.add(statement.name)
        is_choice = statement.form == _CHOICE and _is_choice(statement)
        return self._with_loads(statement) if is_choice else (statement,)

    def _with_loads(self, choice: Let) -> tuple[Statement, ...]:
        """A choice between elements of which those that stay the same are at hand, and those that an index points to
        are read in any case."""
        operands, loads = [], list[Let]()
        for name, operand in choice.operands:
            if name in _SIDES and isinstance(operand, Load) and not operand.ranges:
                load = replace(choice, name=f"{choice.name}_{name}", form="{x}", operands=(("x", operand),))
                varies = self._varies(operand)
                if not varies or _is_pointed_to(operand):
                    self.are_worth_it = True
                    (loads if varies else self.around).append(load)
                    operand = Value(load.name)
            operands.append((name, operand))
        return (*loads, replace(choice, operands=tuple(operands)))

    def _varies(self, operand: Operand) -> bool:
        if isinstance(operand, Value):
            return operand.name in self.varying
        if isinstance(operand, Local) or (isinstance(operand, Load) and operand.buffer in self.written):
            return True
        return any(atom.name in self.varying for index in indices(operand) for atom in _atoms(index))


def _is_choice(let: Let) -> bool:
    """True for choices that a value makes. Where an index makes it, only one side may be there to be read."""
    return "?" in let.form and not any(isinstance(operand, Condition) for operand in operands_in(let))


def _is_pointed_to(load: Load) -> bool:
    return any(isinstance(variable, Loaded) for variable in _atoms(load.index))


def _atoms(index: Index) -> Iterator[Variable]:
    for atom, _ in index.terms:
        if isinstance(atom, Variable):
            yield atom
        else:
            yield from _atoms(atom.of)
