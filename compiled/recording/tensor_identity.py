"""What a program may ask about a tensor besides its numbers: which one it is, how it was made, and attributes that
users have set.

Which of the arguments and captured tensors are the same is compared where code asks by ``is`` or ``in``. What a tensor
hashes to, or its ``id()``, is another number for each new argument; then no call is like another.
"""

from __future__ import annotations

import dis
import functools
import types

from ...tensors.tensor import Tensor
from ..common.classes import is_a
from ..common.tensor_memory import users_attributes
from ..guards.bytecode import global_names
from ..guards.environment import Environment
from ..guards.sources import Attribute
from ..guards.value_guard import writer_of
from .validity import refusal

# How a tensor was made: two that compute the same may differ in it.
_OF_HISTORY = frozenset({"_base", "_is_view", "next_functions", "output_nr", "retains_grad"})
_BY_NAME = frozenset({"is_", "is_not", "contains", "index", "count", "remove"})


@functools.lru_cache(maxsize=1024)
def _compares(code: types.CodeType) -> bool:
    """True if the code can tell whether two tensors are one."""
    before = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "CONTAINS_OP" or (instruction.opname == "IS_OP" and before != "LOAD_CONST"):
            return True
        before = instruction.opname
    return not _BY_NAME.isdisjoint(code.co_names)


@functools.lru_cache(maxsize=1024)
def _asked_of_history(code: types.CodeType) -> str:
    """What the code may ask of how a tensor was made; "" if it asks no more than whether there is a history."""
    words = {*code.co_names, *(constant for constant in code.co_consts if is_a(constant, str))}
    found = next(iter(_OF_HISTORY & words), "")
    if found or "grad_fn" not in words:
        return found
    instructions = [*dis.get_instructions(code)]
    loads = [i for i, each in enumerate(instructions) if each.argval == "grad_fn"]
    asks_more = not loads or any(not _is_compared_to_none(instructions[i + 1 :]) for i in loads)
    return "grad_fn" if asks_more else ""


def _is_compared_to_none(following: list[dis.Instruction]) -> bool:
    match [each for each in following if each.opname != "CACHE"]:
        case [first, second, *_] if first.opname == "LOAD_CONST" and first.argval is None:
            return second.opname in ("IS_OP", "COMPARE_OP")
        case [first, *_]:
            return first.opname.endswith("_NONE")
        case _:
            return False


class TensorIdentityGuards:
    """What one recorded call asks about tensors from outside. `arguments` are those among the arguments."""

    def __init__(self, environment: Environment, arguments: list[Tensor]) -> None:
        self._surroundings = environment
        self._new = {id(tensor): tensor for tensor in arguments if not environment.captures(tensor)}
        tensors = {id(tensor): tensor for tensor in (*environment.tensors(), *arguments)}
        self._attributes = [(tensor, users_attributes(tensor)) for tensor in tensors.values()]
        self._hashed_at = ""
        self._missing: list[tuple[Tensor, str]] = []  # attributes that a captured tensor does not have
        self.are_compared = False  # whether code can tell which tensors are the same
        self._refuse_attributes_of_arguments()

    def hashed(self, tensor: Tensor, place: str) -> None:
        """The tensor is looked up in a dict or a set."""
        if id(tensor) in self._new:
            self._hashed_at = self._hashed_at or place

    def attribute_missing(self, tensor: Tensor, name: str) -> None:
        """The program has asked for an attribute that is not there."""
        if id(tensor) not in self._new:  # of arguments, all attributes are compared
            self._missing.append((tensor, name))

    def check(self, codes: list[types.CodeType]) -> None:
        """CaptureError for what depends on the very object that an argument is; `codes` is what was run or found."""
        self._refuse_changed_attributes(codes)
        if self._hashed_at:
            raise refusal(
                "a tensor argument is a key of a dict or an item of a set",
                f"at {self._hashed_at}",
                "Which tensor it is will be different at each call: pass the key as an argument of its own.",
            )
        code = next((code for code in codes if "id" in global_names(code)), None) if self._new else None
        if code is not None:
            raise refusal(
                "id() is used in a function with tensor arguments",
                f"at {writer_of(code, 'id')}",
                "Which tensors they are will be different at each call: compare them with `is`.",
            )
        self._refuse_histories(codes)
        self.are_compared = any(map(_compares, codes))
        for tensor, name in self._missing:
            self._surroundings.watch(Attribute(tensor, name))

    def let_go(self) -> None:
        """Forget the call's arguments."""
        self._new, self._attributes, self._missing = {}, [], []

    @staticmethod
    def _refuse_histories(codes: list[types.CodeType]) -> None:
        for code in codes:
            if what := _asked_of_history(code):
                raise refusal(
                    f"the function may read {what} of a tensor",
                    f"at {writer_of(code, what)}",
                    "Another tensor like it may have been made in another way: read it outside.",
                )

    def _refuse_attributes_of_arguments(self) -> None:
        for fact in self._surroundings.facts:
            if id(fact.source.owner) in self._new:
                raise refusal(
                    f"the function may read {fact.name}, an attribute that a tensor argument was given",
                    f"at {fact.line}",
                    "Pass it as an argument of its own.",
                )

    def _refuse_changed_attributes(self, codes: list[types.CodeType]) -> None:
        for tensor, before in self._attributes:
            now = users_attributes(tensor)
            for name in before.keys() | now.keys():
                if name not in before or name not in now or before[name] is not now[name]:
                    code = next((code for code in codes if name in code.co_names), None)
                    raise refusal(
                        f"the function changes the attribute {name} of {tensor.label or 'a tensor'}",
                        f"at {writer_of(code, name)}",
                        "Later calls would not do it again: set it outside.",
                    )
