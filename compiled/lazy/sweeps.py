"""Backward passes of noted calls, repeated without the engine.

Where `backward()` goes through calls of compiled graphs only and gives gradients to leaves that had none, what it notes
is the same each time: the way through the tree of events from here to there, what it reads, and which new memories are
the leaves' gradients. So the engine finds it once, and a function that is written for it (`expected_sweep.py`) checks
that later passes are like it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...tape.nodes import AccumulateGrad
from ...tensors.tensor import Tensor
from ..common.tensor_memory import memory_of
from .backward_program import CompiledNode
from .event_trie import Call, TrieInput, TrieNode

if TYPE_CHECKING:
    from .deferred_calls import Deferred

MOST_PASSES = 8  # functions for passes that begin at one point


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf that the pass gives a gradient: the memory's number behind the first of the pass, and its token."""

    tensor: Tensor
    memory: int
    token: int


@dataclass(frozen=True, eq=False)
class Visited:
    """A call that the pass goes through: the node, and where its edges lead: a leaf, another call (by its position
    among the visited), or nowhere. `is_pending` says that this segment has noted it, `inputs` the labels of what it has
    kept."""

    node: CompiledNode
    edges: tuple[Tensor | int | None, ...]
    is_pending: bool
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Read:
    """What the pass meets: an input that a call has kept, by its position among them, or a value that was saved, by its
    position as well. `as_it_is` is False where the pass reads a copy."""

    token: int
    memory: int
    call: int
    position: int
    is_saved: bool
    as_it_is: bool


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """One backward pass: from a point of the tree of events to another.

    `known` are inputs that had tokens before: call, position and token. `layouts` are those of tensors that are read,
    by token.
    """

    output: int
    visited: tuple[Visited, ...]
    leaves: tuple[Leaf, ...]
    reads: tuple[Read, ...]
    known: tuple[tuple[int, int, int], ...]
    layouts: Mapping[int, Any]
    before: TrieNode
    after: TrieNode
    ops: int


class Unlike(Exception):
    """The pass cannot be repeated."""


class Observed:
    """A pass that the engine does: what can be learnt from it, looked at before and after."""

    def __init__(self, deferred: Deferred, loss: Tensor) -> None:
        self._deferred = deferred
        self._before, self._segment, self._ops = deferred.here, deferred.segment, deferred.ops
        self._output = loss._output
        self._nodes = _calls_behind(loss)
        self._visited = tuple(map(self._seen, self._nodes or ()))
        leaves = {id(leaf): leaf for v in self._visited for leaf in v.edges if isinstance(leaf, Tensor)}
        self._leaves = [leaf for leaf in leaves.values() if leaf._grad is None and not is_hooked(leaf)]
        self._is_plain = self._nodes is not None and len(self._leaves) == len(leaves)
        self._layouts: dict[int, Any] = {}
        self._inputs = [node.inputs for node in self._nodes or ()]  # which the pass takes away

    def _seen(self, node: Any) -> Visited:
        edges: list[Tensor | int | None] = []
        for edge in node.edges:
            after: Any = edge.node
            if after is None:
                edges.append(None)
            else:
                assert self._nodes is not None
                edges.append(after.variable if isinstance(after, AccumulateGrad) else self._nodes.index(after))
        return Visited(node, tuple(edges), node.segment is self._segment, tuple(kept[0] for kept in node.inputs))

    def plan(self) -> SweepPlan | None:
        """After the pass: how to repeat it, if what it has brought are gradients of leaves and nothing else."""
        deferred = self._deferred
        if not self._is_plain or deferred.segment is not self._segment:
            return None
        try:
            reads, known = self._reads()
        except Unlike:
            return None
        first = self._before.memories
        numbers = {number: i for i, number in deferred.numbers_since(first).items() if number is not None}
        for read in reads:
            numbers.pop(read.memory - first, None)
        leaves = []
        for leaf in self._leaves:
            gradient: Any = leaf._grad
            if gradient is None:
                continue
            number = next((n for n, identity in numbers.items() if identity == id(gradient.ndarray)), None)
            if number is None or gradient.place is None or gradient.place[0] is not self._segment:
                return None
            del numbers[number]
            leaves.append(Leaf(leaf, number, gradient.place[1]))
        if numbers:
            return None
        ops = deferred.ops - self._ops
        return SweepPlan(
            self._output, self._visited, tuple(leaves), tuple(reads), tuple(known), self._layouts, self._before,
            deferred.here, ops,
        )  # fmt: skip

    def _reads(self) -> tuple[list[Read], list[tuple[int, int, int]]]:
        """What the programs of the pass have read of the calls: what they have met, and what was known before."""
        events = _events_since(self._before, self._deferred.here)
        met = {token: event for token, event in events if isinstance(event, TrieInput)}
        reads: dict[int, Read] = {}
        known: list[tuple[int, int, int]] = []
        for _, event in events:
            if not isinstance(event, Call):
                continue
            call = self._call_of(event)
            visited, saved = self._visited[call], self._visited[call].node.backward_programs.parts.saved
            for label, token in event.operands:
                if label in visited.inputs:
                    position = visited.inputs.index(label)
                    if token in met and met[token].dtype is None and visited.is_pending:
                        del met[token]  # what the call has captured: it is found as it is intact
                    elif token in met:
                        is_shown = self._is_shown(call, position, token)
                        self._note(reads, Read(token, met[token].memory, call, position, False, is_shown))
                    elif token < self._before.tokens:
                        known.append((call, position, token))
                elif label in saved and token in met:
                    self._note(reads, Read(token, met[token].memory, call, saved.index(label), True, True))
        if reads.keys() != met.keys() or any(event.steps or event.dtype is None for event in met.values()):
            raise Unlike
        return sorted(reads.values(), key=lambda read: read.token), known

    def _note(self, reads: dict[int, Read], read: Read) -> None:
        if read.token in reads:
            raise Unlike  # two calls read one memory
        reads[read.token] = read

    def _is_shown(self, call: int, position: int, token: int) -> bool:
        _, tensor, array, buffer, steps = self._inputs[call][position]
        if tensor.ndarray is not array:
            raise Unlike
        self._layouts[token] = memory_of(tensor)[1]
        return bool(tensor.place == (self._segment, token) and not steps and buffer.whole is array)

    def _call_of(self, event: Call) -> int:
        found = [i for i, v in enumerate(self._visited) if v.node.backward_programs.is_whole(event.program)]
        if len(found) != 1:
            raise Unlike
        return found[0]


def _events_since(before: TrieNode, here: TrieNode) -> list[tuple[int, Any]]:
    """The events behind a point, each with the first token that it has brought."""
    events: list[tuple[int, Any]] = []
    point: TrieNode | None = here
    while point is not before:
        if point is None or point.event is None:
            raise Unlike
        events.append((point.tokens - point.event.tokens, point.event))
        point = point.before
    return events[::-1]


def _calls_behind(loss: Tensor) -> list[CompiledNode] | None:
    """The calls that the pass goes through; None if it goes through anything else."""
    if loss._base is not None or not isinstance(loss._node, CompiledNode):
        return None
    found: list[Any] = [loss._node]
    for node in found:
        if not isinstance(node, CompiledNode) or not _is_plain(node) or node.backward_programs.copied:
            return None
        for edge in node.edges:
            after = edge.node
            if after is not None and not isinstance(after, AccumulateGrad) and after not in found:
                found.append(after)
    return found


def _is_plain(node: CompiledNode) -> bool:
    return not (node.tensor_hooks or node.retained or node.pre_hooks or node.post_hooks)


def is_hooked(leaf: Tensor) -> bool:
    """True if somebody wants to see the leaf's gradient."""
    return bool(leaf.leaf_hooks or leaf.post_accumulate_hooks)
