"""Plain ops among what a backward pass goes through: what tells that a later pass meets the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.core import REGISTRY, Params, Primitive
from ...ops.types import Type
from ...tape.nodes import PrimitiveNode, Saved
from ...tape.saved import Packed
from ...tensors.tensor import Tensor
from ..common.exactness import same_number
from .event_trie import Compute, TrieInput, key_of
from .sweep_reads import Read, read_of_tensor
from .varying import places

# Ops whose derivative takes a number of theirs as it is: each of the two may be another number at each pass.
PASSING_NUMBERS_ON = (REGISTRY["mul"], REGISTRY["div"])
SLICE = REGISTRY["slice"]

OP = """
    if (type(x{i}) is not kind{i} or x{i}.released or x{i}.tensor_hooks or x{i}.retained or x{i}.pre_hooks
            or x{i}.post_hooks or x{i}.known.keys() != kept{i} or {other}):
        return NOT_NOTED
    k{i} = x{i}.known
"""


class Unlike(Exception):
    """The pass cannot be repeated."""


@dataclass(frozen=True, eq=False)
class VisitedOp:
    """An op: `token` is that of its result where this segment has noted it, else None; `kept` names what it has kept,
    some of which is for the composite whose last op it is."""

    kind: type
    primitive: Primitive
    params: Params
    facts: tuple[Any, ...]  # see `facts_of`
    kept: frozenset[str]
    token: int | None
    edges: tuple[Tensor | int | None, ...]

    @classmethod
    def of(cls, node: PrimitiveNode, edges: tuple[Tensor | int | None, ...], segment: Any) -> VisitedOp:
        is_noted = node.place is not None and node.place[0] is segment
        token = node.place[1] if is_noted else None
        return cls(type(node), node.primitive, node.params, facts_of(node), frozenset(node.known), token, edges)


def facts_of(node: PrimitiveNode) -> tuple[Any, ...]:
    """What the derivative rules of an op depend on besides its parameters and numbers: operands, shapes, types."""
    return node.on, node.shapes, tuple([value for value in node.known.values() if type(value) in (Type, tuple)])


def is_op(node: Any) -> bool:
    """True for what one primitive has left on the tape, still to be differentiated. A composite of eager mode is none:
    a program may have computed in that mode until it was worth noting. Nor is one that has saved a tensor in a
    program's own way: the program is asked for it at each pass."""
    if not isinstance(node, PrimitiveNode) or not node.stands_for_itself or node.released:
        return False
    return not any(isinstance(kept, Packed) for kept in node.known.values())


class Kept:
    """A tensor that an op keeps for its derivative: the name of the first that does, and of all others."""

    def __init__(self, tensor: Any, is_output: bool, segment: Any) -> None:
        self.tensor = tensor  # until the plan is made
        self.is_output = is_output
        self.holders: list[tuple[int, str]] = []  # position of the op, and what its rules call the tensor
        self.token = _token_in(tensor, segment)


class KeptByOps:
    """What the ops of one pass have kept: tensors, constants, and what they have sliced; and the gradients of the
    leaves `sums`, to which the pass adds."""

    def __init__(self, visited: Sequence[Any], nodes: Sequence[Any], deferred: Any, sums: Sequence[Tensor]) -> None:
        self._segment = deferred.segment
        self.sums = tuple(sums)
        # The tokens of their gradients where this segment knows these already.
        self.tokens_of_sums = [_token_in(leaf._grad, self._segment) for leaf in sums]
        # By position: the first leaf with the same gradient, which is met once for all of them.
        firsts = {id(leaf._grad): j for j, leaf in reversed([*enumerate(sums)])}
        self._firsts = [firsts[id(leaf._grad)] for leaf in sums]
        self._visited = visited
        self.tensors: list[Kept] = []
        self.constants: dict[tuple[int, str], Any] = {}  # by position and name: the key, or None for what may differ
        self.same: list[tuple[str, int]] = []  # expressions for tensors, and the reads of which they are the tensors
        self._types: dict[tuple[int, str], np.dtype] = {}
        self.moving: set[int] = set()  # positions of slices that may begin elsewhere
        numbers: dict[int, int] = {}
        for i, node in enumerate(nodes):
            for name, value in node.known.items() if isinstance(visited[i], VisitedOp) else ():
                if isinstance(value, Saved):
                    number = numbers.setdefault(id(value.tensor), len(self.tensors))
                    if number == len(self.tensors):
                        self.tensors.append(Kept(value.tensor, value.is_output, self._segment))
                    self.tensors[number].holders.append((i, name))
                elif isinstance(value, np.generic):
                    self._types[i, name] = value.dtype
                    self.constants[i, name] = key_of(value)

    # -------------------------------------------------------------------------------------------- after the pass

    def read(self, token: int, event: TrieInput, array: Any, i: int) -> Read:
        """What the pass has met as `event`: an array, for the derivative of node number `i`."""
        if isinstance(array, Tensor):
            return self._tensor(token, event, array)
        if array is None or i < 0 or event.dtype is None:
            raise Unlike
        return (self._positions if array.ndarray.ndim else self._number)(token, event, array.ndarray, i)

    def _tensor(self, token: int, event: TrieInput, met: Tensor) -> Read:
        for j, leaf in enumerate(self.sums):
            if leaf._grad is met:
                return read_of_tensor(token, event, f"sum{j}._grad", met, (self._segment, token))
        for n, kept in enumerate(self.tensors):
            tensor = kept.tensor
            is_alias = kept.is_output and tensor.buffer is met.buffer and tensor.steps == met.steps
            if (tensor is met or is_alias) and tensor.ndarray.shape == met.ndarray.shape:
                return read_of_tensor(token, event, f"v{n}", tensor, (self._segment, token), met)
        for n, kept in enumerate(self.tensors):
            tensor, before = kept.tensor, len(kept.tensor.steps)
            if tensor.buffer is met.buffer and met.steps[:before] == tensor.steps:
                place, steps = (self._segment, token), met.steps[before:]
                return read_of_tensor(token, event, f"v{n}", met, place, steps=steps)
        raise Unlike

    def _number(self, token: int, event: TrieInput, value: np.ndarray, i: int) -> Read:
        """A number of the op that has been another one before; if its derivative computes with it, it is the same one
        at each pass."""
        number: Any = value[()]
        key = key_of(number)
        found = [name for (at, name), constant in self.constants.items() if at == i and constant == key]
        if not found:
            raise Unlike
        if len(found) == 1 and self._visited[i].primitive in PASSING_NUMBERS_ON:
            self.constants[i, found[0]] = None
        return Read(token, event.memory, "constant", f"array(k{i}[{found[0]!r}])")

    def _positions(self, token: int, event: TrieInput, positions: np.ndarray, i: int) -> Read:
        """The places that a slice was taken from, wherever that begins."""
        op = self._visited[i]
        if op.primitive is not SLICE or not np.array_equal(positions, places_of_slice(op.params, op.facts[1][0])):
            raise Unlike
        self.moving.add(i)
        return Read(token, event.memory, "positions", f"places(x{i}.params, x{i}.shapes[0])")

    def require_known(self, event: Compute, before: int) -> None:
        """Unlike, if an op of the pass has used what was there before, and what no op has kept."""
        known = {*(kept.token for kept in self.tensors), *self.tokens_of_sums}
        if any(isinstance(operand, int) and operand < before and operand not in known for operand in event.operands):
            raise Unlike

    def note_same(self, reads: Sequence[Read], same: Iterable[tuple[str, int]]) -> None:
        """Find which tensors have been met as something else than what they are called here; let the tensors go.

        `same` are expressions for tensors that calls have kept, and the tokens that they had been given before.
        """
        position = {read.token: n for n, read in enumerate(reads)}
        self.same = [(expression, position[token]) for expression, token in same]
        for n, kept in enumerate(self.tensors):
            place = kept.tensor.place
            if kept.token is None and place is not None and place[0] is self._segment and place[1] in position:
                read = position[place[1]]
                self.same += [] if reads[read].source == f"v{n}" else [(f"v{n}", read)]
        for kept in self.tensors:
            kept.tensor = None
        self._segment = None

    # -------------------------------------------------------------------------------------------- lines of Python

    def text_of_node(self, i: int, names: dict[str, Any]) -> str:
        """The checks that node number `i` is the op that it was, and has kept what it did."""
        visited = self._visited[i]
        text = _text_of_op(i, visited, i in self.moving, names)
        for (j, name), key in self.constants.items():
            if j == i:
                constant = f"k{i}[{name!r}]"
                # Another call may have kept a tensor in the place of the number, or the other way round.
                names[f"number{i}_{name}"], names[f"type{i}_{name}"] = key, self._types[i, name].type
                other = f" or key_of({constant}) != number{i}_{name}" if key else ""
                text += f"    if type({constant}) is not type{i}_{name}{other}: return NOT_NOTED\n"
        for n, kept in enumerate(self.tensors):
            for j, name in kept.holders:
                if j == i:
                    text += self._text_of_kept(n, kept, i, name)
        return text

    def _text_of_kept(self, n: int, kept: Kept, i: int, name: str) -> str:
        held = f"k{i}[{name!r}]"
        if (i, name) != kept.holders[0]:
            is_other = f"type({held}) is not Saved or {held}.tensor is not v{n}"
            return f"    if {is_other} or {held}.version != v{n}.buffer.version: return NOT_NOTED\n"
        text = f"    if type({held}) is not Saved: return NOT_NOTED\n    v{n} = {held}.tensor\n"
        text += f"    if {held}.version != v{n}.buffer.version: return NOT_NOTED\n"
        if kept.token is not None:
            text += f"    if v{n}.place != (segment, {kept.token}): return NOT_NOTED\n"
        return text

    def text_of_same(self) -> str:
        """The checks that what has been met under two names is one tensor."""
        return "".join(f"    if {each} is not t{read}: return NOT_NOTED\n" for each, read in self.same)

    def text_of_sums(self) -> str:
        """The checks that there are gradients to add to, those that were known before among them."""
        text = ""
        for j, token in enumerate(self.tokens_of_sums):
            other = "" if token is None else f" or sum{j}._grad.place != (segment, {token})"
            first = self._firsts[j]
            other += "" if first == j else f" or sum{j}._grad is not sum{first}._grad"
            text += f"    if type(sum{j}._grad) is not Tensor{other}: return NOT_NOTED\n"
        return text


def _token_in(tensor: Any, segment: Any) -> int | None:
    place = tensor.place
    return place[1] if place is not None and place[0] is segment else None


def _text_of_op(i: int, op: VisitedOp, is_moving: bool, names: dict[str, Any]) -> str:
    names[f"kind{i}"], names[f"kept{i}"] = op.kind, op.kept
    if op.token is not None:
        # Its event is that of the way that has led here: the op, its parameters and the types of its operands.
        return OP.format(i=i, other=f"x{i}.place != (segment, {op.token})")
    names.update({f"primitive{i}": op.primitive, f"facts{i}": op.facts, "facts_of": facts_of})
    other = f"x{i}.primitive is not primitive{i} or facts_of(x{i}) != facts{i} or "
    if is_moving:
        names.update({f"part{i}": _part(op.params), "part": _part})
        return OP.format(i=i, other=other + f"part(x{i}.params) != part{i}")
    names.update({f"params{i}": dict(op.params), "are_same": _are_same})
    return OP.format(i=i, other=other + f"not are_same(x{i}.params, params{i})")


def _are_same(one: Params, other: Params) -> bool:
    """True for the same parameters in the same order, bit by bit."""
    if len(one) != len(other):
        return False
    pairs = zip(one.items(), other.items(), strict=True)
    return all(name == known and same_number(a, b) for (name, a), (known, b) in pairs)


def places_of_slice(params: Params, shape: Sequence[int]) -> np.ndarray:
    """What `varying.places` gives for the derivative of a slice of something of that shape."""
    extents, _ = _part(params)
    return places(shape, params["starts"], params["steps"], extents)


def _part(params: Params) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How much a slice shows, wherever it begins: extents and steps."""
    spans = zip(params["starts"], params["stops"], params["steps"], strict=True)
    return tuple(-(-(stop - start) // step) for start, stop, step in spans), params["steps"]
