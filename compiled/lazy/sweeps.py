"""Backward passes of re-recorded calls, repeated without the engine.

Where `backward()` goes through calls of compiled graphs and plain ops only, and gives gradients to leaves that had
none, what it notes is the same each time: the way through the tree of events from here to there, what it reads, and
which new memories are the leaves' gradients. So the engine finds it once, and a function that is written for it
(`expected_sweep.py`) checks that later passes are like it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

from ...tape.nodes import AccumulateGrad
from ...tensors.tensor import Tensor
from .compiled_node import CompiledNode
from .deferred_calls import Deferred
from .event_trie import Call, Compute, TrieInput, TrieNode
from .gradient_pool import ArrayType
from .sweep_ops import KeptByOps, Unlike, VisitedOp, is_op
from .sweep_reads import Read, read_of_tensor

MOST_PASSES = 8  # functions for passes that begin at one point
MOST_NODES = 500  # of a pass: the text of its function grows with them


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf that the pass gives a gradient: the memory's number behind the first of the pass, its token and type.

    `is_fresh` says that it may be another tensor at each pass: what is no parameter (an input that requires a
    gradient), and a parameter that was another one at the pass before (of a model that is copied in each call).
    """

    tensor: Tensor
    memory: int
    token: int
    type: ArrayType
    is_fresh: bool


@dataclass(frozen=True, eq=False)
class VisitedCall:
    """A call that the pass goes through: the node, and where its edges lead: a leaf, another node (by its position
    among the visited), or nowhere. `is_pending` says that this segment has noted it, `inputs` the labels of what it has
    kept."""

    node: CompiledNode
    edges: tuple[Tensor | int | None, ...]
    is_pending: bool
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """One backward pass: from a point of the tree of events to another.

    `leaves` get new gradients, to those of `sums` the pass adds. `order` are the positions of the visited nodes in the
    order of their making, `known` inputs of calls that had tokens before: call, position and token; `kept` is what ops
    have kept.
    """

    output: int
    visited: tuple[VisitedCall | VisitedOp, ...]
    order: tuple[int, ...]
    leaves: tuple[Leaf, ...]
    sums: tuple[Tensor, ...]
    reads: tuple[Read, ...]
    known: tuple[tuple[int, int, int], ...]
    kept: KeptByOps
    before: TrieNode
    after: TrieNode
    ops: int


class Observed:
    """A pass that the engine does: what can be learnt from it, looked at before and after."""

    def __init__(self, deferred: Deferred, loss: Tensor) -> None:
        self._deferred = deferred
        self._before, self._segment, self._ops = deferred.here, deferred.segment, deferred.ops
        self._output = loss._output
        self._nodes = _nodes_behind(loss)
        nodes = self._nodes or []
        self._position = {id(node): i for i, node in enumerate(nodes)}
        self._visited = tuple(map(self._seen, nodes))
        self._order = tuple(sorted(range(len(nodes)), key=lambda i: nodes[i].sequence))
        leaves = {id(leaf): leaf for v in self._visited for leaf in v.edges if isinstance(leaf, Tensor)}
        self._leaves = [leaf for leaf in leaves.values() if leaf._grad is None and not is_hooked(leaf)]
        sums = [leaf for leaf in leaves.values() if leaf._grad is not None and is_summed(leaf)]
        self._is_plain = self._nodes is not None and len(self._leaves) + len(sums) == len(leaves)
        self._kept = KeptByOps(self._visited, nodes, deferred, sums)
        # What the pass takes away.
        self._inputs = [node.inputs if isinstance(node, CompiledNode) else () for node in nodes]
        self._met: dict[int, Any] = {}  # by token: the array that was met
        self._node_of: dict[int, int] = {}  # by token: the position of the node whose derivative has brought it
        if self._is_plain:
            self._listen()

    @property
    def nodes(self) -> int:
        """How many the pass goes through."""
        return len(self._visited)

    def _seen(self, node: Any) -> VisitedCall | VisitedOp:
        edges: list[Tensor | int | None] = []
        for edge in node.edges:
            after: Any = edge.node
            if after is None:
                edges.append(None)
            else:
                edges.append(after.variable if isinstance(after, AccumulateGrad) else self._position[id(after)])
        if not isinstance(node, CompiledNode):
            return VisitedOp.of(node, tuple(edges), self._segment)
        return VisitedCall(node, tuple(edges), node.segment is self._segment, tuple(kept[0] for kept in node.inputs))

    def _listen(self) -> None:
        self._deferred.observer = self._note_met
        for i, node in enumerate(self._nodes or ()):
            node.backward = functools.partial(self._derive, node, i)

    def _derive(self, node: Any, i: int, cotangents: Any, wanted: Any) -> Any:
        first = self._deferred.here.tokens
        found = type(node).backward(node, cotangents, wanted)
        self._node_of.update(dict.fromkeys(range(first, self._deferred.here.tokens), i))
        return found

    def _note_met(self, token: int, array: Any) -> None:
        self._met[token] = array

    def end(self) -> None:
        """The pass is over, well or not."""
        self._deferred.observer = None
        for node in self._nodes or ():
            vars(node).pop("backward", None)

    def plan(self) -> SweepPlan | None:
        """After the pass: how to repeat it, if what it has brought are gradients of leaves and nothing else."""
        deferred = self._deferred
        if not self._is_plain or deferred.segment is not self._segment:
            return None
        if any(isinstance(end, Tensor) and not end._requires for each in self._visited for end in each.edges):
            return None  # a leaf that gets no gradient now, but may at another pass
        try:
            reads, known = self._reads()
        except Unlike:
            return None
        leaves = self._gradients(reads)
        if leaves is None:
            return None
        return SweepPlan(
            self._output, self._visited, self._order, tuple(leaves), self._kept.sums, tuple(reads), tuple(known),
            self._kept,
            self._before, deferred.here, deferred.ops - self._ops,
        )  # fmt: skip

    def _gradients(self, reads: list[Read]) -> list[Leaf] | None:
        """The leaves that have got gradients; None if the pass has left anything else."""
        first = self._before.memories
        numbers = {number: i for i, number in self._deferred.numbers_since(first).items() if number is not None}
        for read in reads:
            if read.brings_memory:
                numbers.pop(read.memory - first, None)
        leaves = []
        for leaf in self._leaves:
            gradient: Any = leaf._grad
            if gradient is None:
                continue
            number = next((n for n, identity in numbers.items() if identity == id(gradient.ndarray)), None)
            if number is None or gradient.place is None or gradient.place[0] is not self._segment:
                return None
            if gradient.steps or not gradient.ndarray.flags.c_contiguous:
                return None
            del numbers[number]
            of = gradient.ndarray.shape, gradient.ndarray.dtype
            leaves.append(Leaf(leaf, number, gradient.place[1], of, type(leaf) is Tensor))
        return None if numbers else self._with_fresh(leaves)

    def _with_fresh(self, leaves: list[Leaf]) -> list[Leaf]:
        """The leaves, and which of them were others when a pass from here to there was observed before."""
        passed, there = self._before.leaves_of_passes, self._deferred.here
        known, found = passed.get(there, ()), tuple([id(leaf.tensor) for leaf in leaves])
        passed[there] = found
        if len(known) != len(found):
            return leaves
        others = [one != other for one, other in zip(known, found, strict=True)]
        return [replace(leaf, is_fresh=leaf.is_fresh or other) for leaf, other in zip(leaves, others, strict=True)]

    def _reads(self) -> tuple[list[Read], list[tuple[int, int, int]]]:
        """What the pass has read of the nodes: what it has met, and what was known before."""
        events = _events_since(self._before, self._deferred.here)
        met: dict[int, Any] = {token: event for token, event in events if isinstance(event, TrieInput)}
        reads: dict[int, Read] = {}
        known: list[tuple[int, int, int]] = []
        same: list[tuple[str, int]] = []
        for token, event in events:
            if isinstance(event, Call):
                self._read_by_call(self._node_of.get(token, -1), event, met, reads, known, same)
        for token, event in met.items():
            if token not in reads:
                reads[token] = self._kept.read(token, event, self._met.get(token), self._node_of.get(token, -1))
        for _, event in events:
            if isinstance(event, Compute):
                self._kept.require_known(event, self._before.tokens)
        ordered = sorted(reads.values(), key=lambda read: read.token)
        self._kept.note_same(ordered, same)
        return ordered, known

    def _read_by_call(
        self, call: int, event: Call, met: dict[int, Any], reads: dict[int, Read], known: list[tuple[int, int, int]],
        same: list[tuple[str, int]],
    ) -> None:  # fmt: skip
        visited = self._visited[call] if call >= 0 else None
        if not isinstance(visited, VisitedCall):
            raise Unlike
        saved = visited.node.backward_programs.parts.saved
        for label, token in event.operands:
            if label in visited.inputs:
                position = visited.inputs.index(label)
                if token in reads and reads[token].is_of_tensor:
                    same.append((f"i{call}[{position}][1]", token))
                elif token in met and met[token].dtype is None and visited.is_pending:
                    del met[token]  # what the call has captured: it is found as it is intact
                elif token in met:
                    reads[token] = self._read_of_input(call, position, token, met[token])
                elif token < self._before.tokens:
                    known.append((call, position, token))
            elif label in saved and token in met:
                if token in reads:
                    raise Unlike  # two calls read one memory
                reads[token] = Read(token, met[token].memory, "saved", f"x{call}._saved, {saved.index(label)}")

    def _read_of_input(self, call: int, position: int, token: int, event: TrieInput) -> Read:
        _, tensor, array, _, _ = self._inputs[call][position]
        if tensor.ndarray is not array:
            raise Unlike
        return read_of_tensor(token, event, f"i{call}[{position}][1]", tensor, (self._segment, token))


def _events_since(before: TrieNode, here: TrieNode) -> list[tuple[int, Any]]:
    """The events behind a point, each with the first token that it has brought."""
    events = [(point.tokens, point.event) for point in here.since(before) or ()]
    return [(tokens - event.tokens, event) for tokens, event in events if event is not None]


def _nodes_behind(loss: Tensor) -> list[Any] | None:
    """The calls and ops that the pass goes through; None if it goes through anything else."""
    if loss._base is not None or not _may_be_visited(loss._node):
        return None
    found: list[Any] = [loss._node]
    known = {id(loss._node)}
    for node in found:
        for edge in node.edges:
            after = edge.node
            if after is not None and not isinstance(after, AccumulateGrad) and id(after) not in known:
                if not _may_be_visited(after) or len(found) >= MOST_NODES:
                    return None
                known.add(id(after))
                found.append(after)
    return found


def _may_be_visited(node: Any) -> bool:
    if isinstance(node, CompiledNode):
        return _is_plain(node) and not node.backward_programs.copied and len(node.backward_programs.groups) == 1
    return is_op(node) and _is_plain(node)


def _is_plain(node: Any) -> bool:
    return not (node.tensor_hooks or node.retained or node.pre_hooks or node.post_hooks)


def is_summed(leaf: Tensor) -> bool:
    """True if a pass adds to the leaf's gradient where that is, and does nothing else."""
    gradient: Any = leaf._grad
    return type(gradient) is Tensor and not (gradient.steps or is_hooked(leaf)) and gradient.ndarray.flags.c_contiguous


def is_hooked(leaf: Tensor) -> bool:
    """True if somebody wants to see the leaf's gradient."""
    return bool(leaf.leaf_hooks or leaf.post_accumulate_hooks)
