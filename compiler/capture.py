"""The recording interpreter: runs ops with numpy, as always, and adds each one to a graph.

Memory is functionalised here. A *root* is a piece of memory that existed before the recording (an argument, a
parameter, an optimizer's state): it is a graph input. Every memory, root or made meanwhile, has a current node; an
in-place write gives it another one, through whatever view the write came. What roots hold in the end is written back.

A recorder keeps no memory alive but that of roots: what is known of other memory goes with it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..ops.array import Array, Buffer, Evaluator, require_writable
from ..ops.core import Params, Primitive, Step, interpreted
from ..ops.identity import detach_primitive
from ..ops.movement import broadcast
from ..ops.pointwise import cast
from ..ops.types import DType, Type, dtype_of
from ..ops.views import replay, write_through
from .errors import CaptureError
from .graph import Builder, Node, Origin, as_params
from .leading import Leading
from .number_checks import NumberChecks
from .origins import Whereabouts
from .repeats import Repeats
from .roots import Alias, Region, Root, facts_of, is_tracked

StopsOf = Callable[[Sequence[Any]], Sequence[bool]]


def no_stops(operands: Sequence[Any]) -> tuple[bool, ...]:
    """What a recorder without a tape is told: there are no derivatives."""
    return ()


class NodeBuilder(Builder):
    """A Builder that asks type rules once for equal operands: most ops of a program are done again and again."""

    def __init__(self) -> None:
        super().__init__()
        self._types: dict[tuple[DType, tuple[int, ...]], Type] = {}  # one object for equal ones
        self._found: dict[tuple[Any, ...], tuple[Type, tuple[Type, ...]]] = {}  # with the operands, whose ids are keys

    def apply(self, primitive: Primitive, operands: Sequence[Node], params: Params) -> Node:
        types = tuple([operand.type for operand in operands])
        plain = as_params(params)
        if plain:
            of = self._one(primitive.type_rule(*types, **dict(plain)))
        else:
            key = (primitive, *map(id, types))
            if key not in self._found:
                self._found[key] = self._one(primitive.type_rule(*types)), types
            of = self._found[key][0]
        return Node(primitive, tuple(operands), plain, of, self.origin)

    def _one(self, of: Type) -> Type:
        key = (of.dtype, of.shape)
        if key not in self._types:
            self._types[key] = of
        return self._types[key]


class Recorder(Evaluator):
    """Evaluates and records. Use it below a tape, in ``interpreted(...)``."""

    def __init__(self, whereabouts: Whereabouts, strict: bool = True, stops_of: StopsOf = no_stops) -> None:
        self.whereabouts = whereabouts
        self._stops_of = stops_of
        self._strict = strict  # raise at the refused line; else go on eagerly, to no recording
        self.builder = NodeBuilder()
        self.repeats = Repeats()
        self.roots: list[Root] = []
        self._regions: dict[int, list[Region]] = {}  # by the identity of the memory, for as long as there is memory
        self._memories: dict[int, weakref.ref[np.ndarray]] = {}
        self._numbers: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
        self._names: set[str] = set()
        self._leading = Leading()
        self.aliases: dict[int, Alias] = {}  # other arrays over the memory of roots
        self.refused: CaptureError | None = None  # the first refusal
        self.after_write: dict[int, list[Callable[[Array], None]]] = {}  # by the identity of the memory
        self.mark_item: Callable[[Array], Any] | None = None  # a number that is known again, or None
        self.checked: list[Node] = []  # ops that may fail for the numbers that they meet
        self.literals: list[Node] = []
        self.checks: list[Node] = []  # whether a requirement fails
        self.number_checks = NumberChecks(self.builder, self.node)
        self.failed = ""  # where an operation failed for the numbers that it met

    # ------------------------------------------------------------------------------------------------ the interpreter

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Any) -> Any:
        return None

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Any) -> Any:
        if self.repeats.again is not None:
            return self._evaluated_again(primitive, operands, params, kind)
        nodes = self._nodes_of(operands)
        try:
            out = super().evaluate(primitive, operands, params, kind)
        except Exception:
            if primitive.check is not None:
                self.failed = str(self.whereabouts.now())
            raise
        if self.repeats.first is not None:
            self.repeats.evaluates(self, primitive, operands, params)
            self.repeats.first.meets(operands, nodes, out)
        if _is_view(primitive, operands, out):
            self._require_c(out.type_.dtype, primitive.name)
            return out  # a view: its node follows from the memory's
        self.builder.origin = self.whereabouts.now()
        node = self.builder.apply(primitive, nodes, params)
        self._remember(out, node)
        if primitive.check is not None:
            self.checked.append(node)
        if operands and self._are_numbers(operands):
            self._numbers[id(out)] = out
            self._number_check(self.number_checks.add, operands, node)
        return out

    def _evaluated_again(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Any) -> Any:
        """What was recorded for other operands before is computed, and no more."""
        self.repeats.evaluates(self, primitive, operands, params)
        out = super().evaluate(primitive, operands, params, kind)
        if operands and self._are_numbers(operands) and not _is_view(primitive, operands, out):
            self._numbers[id(out)] = out
            self._number_check(self.number_checks.refuse, primitive.name, operands)
        return out

    def write(self, target: Array, value: Array | np.generic) -> None:
        require_writable(target)
        if self.repeats.again is None:
            region = self._region(target)
            region.node = self._built(self.whereabouts.now(), self._overwritten, region, target, value)
        if self.repeats.again is None or self.knows(target):  # else it is memory that is gone soon
            self.count_write(target)
        self.repeats.stores(self, value)
        super().write(target, value)
        self.note_written(target)

    def repeated(
        self, key: Hashable, arrays: Sequence[Array], function: Callable[[], bool], at_once: Callable[[], bool]
    ) -> None:
        """``function()``, which each time with this key does the same operations on `arrays` and on what is the same
        each time; `at_once` gives the same numbers without them, or does nothing and is False. What `function` makes
        must be gone afterwards; False from it if it is not."""
        nodes = [self.node(array) for array in arrays]
        facts = [(node.type, self.is_number(array)) for array, node in zip(arrays, nodes, strict=True)]
        self.repeats.run(self, (key, *facts), arrays, nodes, (function, at_once))

    def hold(self, array: Array, node: Node) -> None:
        """`array`, whose memory has been written to, holds what `node` is."""
        self._region(array).node = node

    def count_write(self, target: Array) -> None:
        """`target`, whose memory the recording knows, is about to be written to."""
        region = self._region(target)
        region.writes += 1
        if region.array is not None and len(self._regions_of(target.buffer)) > 1:
            self._refuse_shared(target)

    def note_written(self, target: Array) -> None:
        """`target` has been written to."""
        for follow in self.after_write.get(id(target.buffer.whole), ()):
            follow(target)

    def literal(self, values: np.ndarray, kind: Any = Array) -> Any:
        """Numbers written in the program: an input with the same values at each call, in memory that starts afresh."""
        root = self.add_root(Array(values.copy()), f"literal_{len(self.roots)}")
        self.literals.append(root.node)
        out = super().literal(values, kind)
        self._remember(out, root.node)
        return out

    def require(self, array: Array, requirement: Any, facts: tuple[int, ...]) -> None:
        """What it must be at each call: a replay that meets other numbers is left to eager mode."""
        origin = self.whereabouts.now()
        node = self.node(array)
        try:
            super().require(array, requirement, facts)
        except Exception:
            self.failed = str(origin)
            raise
        self.checks.append(self._built(origin, requirement.fails, node, facts))

    def refuse(self, message: str) -> None:
        """Remember why this call cannot be repeated; where that is strictly wanted, raise the CaptureError."""
        if self.refused is None:
            self.refused = CaptureError(message)
        if self._strict:
            raise self.refused  # remembered as well, because the function may catch it

    def read(self, array: Array, purpose: str) -> np.ndarray:
        self.refuse(
            f"{purpose} needs a tensor's numbers while the function is being recorded\n"
            f"  at {self.whereabouts.now()}\n"
            "  A compiled step cannot stop for Python to look at a value: return the tensor and look at it outside, or "
            "use tg.where or tg.cond for a choice. Without tg.compile the function runs as it is."
        )
        return array.ndarray

    def item(self, array: Array) -> bool | int | float:
        number = None if self.mark_item is None else self.mark_item(array)
        return self.read(array, "item()").item() if number is None else number

    def promote_as_number(self, array: Array) -> None:
        """From now on `array` (0-d) promotes like a Python float; it stays data of the recording."""
        self._numbers[id(array)] = array
        if self.repeats.again is None:
            self.number_checks.data.add(self.node(array))

    def is_number(self, operand: Any) -> bool:
        return isinstance(operand, np.generic) or id(operand) in self._numbers

    def _number_check(self, check: Callable[..., None], *args: Any) -> None:
        try:
            check(*args)
        except Exception:
            self.failed = str(self.whereabouts.now())
            raise

    def _are_numbers(self, operands: Sequence[Any]) -> bool:
        for operand in operands:  # a generator would cost more than this
            if not (isinstance(operand, np.generic) or id(operand) in self._numbers):
                return False
        return True

    # ------------------------------------------------------------------------------------------------ nodes of arrays

    def add_root(self, array: Array, name: str) -> Root:
        """Make `array`'s memory a graph input called `name` (or like it, if the name is taken)."""
        node = self.builder.input(self._unique(name), array.type_)
        self._require_c(node.type.dtype, name)
        region = Region(array.steps, node, array)
        self._regions_of(array.buffer).append(region)
        requires = is_tracked(array)
        root = Root(node, array, region, requires, *facts_of(array), array.buffer.version, self.builder.origin)
        if requires:
            self._leading.ends.add(node)
        self.roots.append(root)
        return root

    def add_number(self, array: Array, name: str) -> Root:
        """A root that promotes as a Python number does: a learning rate, a momentum."""
        root = self.add_root(array, name)
        self.promote_as_number(array)
        return root

    def node(self, operand: Any) -> Node:
        """The node that holds what `operand` holds now."""
        if not isinstance(operand, Array):
            return self.builder.constant(operand, dtype_of(operand))
        regions = self._regions.get(id(operand.buffer.whole), ())
        if len(regions) == 1 and regions[0].array is None and regions[0].prefix == operand.steps:
            return regions[0].node  # most: made by an operation before
        region, steps = self._region(operand), operand.steps
        return region.node if steps == region.prefix else self._view(region, steps[len(region.prefix) :])

    def _nodes_of(self, operands: Sequence[Any]) -> list[Node]:
        """What an operation on them is made of: where derivatives stop on the tape, they do in the graph."""
        nodes = [self.node(operand) for operand in operands]
        for i, stops in enumerate(self._stops_of(operands)):
            if stops:
                nodes[i] = self.detached(nodes[i])
        return nodes

    def detached(self, node: Node) -> Node:
        """`node` as one from which no derivative goes on."""
        if not self.leads_on(node):
            return node
        return Node(detach_primitive, (node,), (), node.type, node.origin)

    def leads_on(self, node: Node) -> bool:
        """Whether a derivative goes on from it to a root that requires gradients."""
        return self._leading.leads_on(node)

    def knows(self, array: Array) -> bool:
        """True if `array` shows memory that this recording has met or made."""
        return id(array.buffer.whole) in self._regions

    def forget_values(self) -> None:
        """Let go of the recorded values, so that only what the user keeps stays alive."""
        of: list[Any] = [self.checked, self.checks, self.number_checks, self.after_write, self._numbers, self._leading]
        for each in of:
            each.clear()
        self.repeats = Repeats()

    def _view(self, region: Region, steps: tuple[Step, ...]) -> Node:
        key = (region.writes, steps)
        if key not in region.views:
            region.views[key] = self._built(self.whereabouts.now(), replay, region.node, steps)
        return region.views[key]

    def _region(self, array: Array) -> Region:
        """The smallest region that contains what `array` shows."""
        found, steps, regions = None, array.steps, self._regions_of(array.buffer)
        for region in regions:
            prefix = region.prefix
            if (prefix == steps or steps[: len(prefix)] == prefix) and (
                found is None or len(found.prefix) < len(prefix)
            ):
                found = region
        if found is None:
            if any(region.written for region in regions):
                self._refuse_shared(array)
            return self.add_root(array, array.label or f"captured_{len(self.roots)}").region
        if found.array is not None and found.array is not array:
            self._note_alias(array)
        return found

    def _note_alias(self, array: Array) -> None:
        known = self.aliases.get(id(array))
        if known is None or known.array() is not array:
            self.aliases[id(array)] = Alias.of(array)

    def _regions_of(self, buffer: Buffer) -> list[Region]:
        whole = buffer.whole
        key = id(whole)
        if key not in self._regions:
            self._memories[key] = weakref.KeyedRef(whole, self._forget, key)
            self._regions[key] = []
        return self._regions[key]

    def _forget(self, memory: weakref.KeyedRef[int, np.ndarray]) -> None:
        """A memory is gone: another one may get its identity."""
        del self._memories[memory.key], self._regions[memory.key]

    def _remember(self, array: Array, node: Node) -> None:
        self._require_c(node.type.dtype, node.label or node.op.name)
        self._regions_of(array.buffer)[:] = [Region(array.steps, node)]

    def _require_c(self, dtype: DType, name: str) -> None:
        if not dtype.is_in_c:
            self.refuse(
                f"compiled code has no {dtype.name}, the type of {name}\n"
                f"  at {self.whereabouts.now()}\n"
                "  This is computed by numpy: without fullgraph=True the call is re-recorded around it."
            )

    def _refuse_shared(self, array: Array) -> None:
        """`array` and roots from outside show parts of one memory, and one of them is written."""
        whole = array.buffer.whole
        names = dict.fromkeys(str(r.node.label) for r in self.roots if r.array.buffer.whole is whole)
        if not any(r.array is array for r in self.roots):
            names[array.label or "another tensor"] = None
        self.refuse(
            f"an in-place write to memory that {' and '.join(names)} share\n"
            f"  at {self.whereabouts.now()}\n"
            "  Pass the tensor that owns the memory and take the views inside the compiled function, or clone() it."
        )

    def _unique(self, name: str) -> str:
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        return unique

    def _overwritten(self, region: Region, target: Array, value: Any) -> Node:
        """What `region` holds after the write, which is an operation on all that the target is a view of."""
        base = getattr(target, "base", None)
        before, stored = region.node, self.node(value)
        stops = self._stops_of((target if base is None else base, value))
        if stops:
            before, stored = (self.detached(n) if s else n for n, s in zip((before, stored), stops, strict=True))
        return write_through(before, target.steps[len(region.prefix) :], _fitted(stored, target.type_))

    def _built(self, origin: Origin, function: Callable[..., Any], *args: Any) -> Any:
        self.builder.origin = origin
        return interpreted(self.builder, function, *args)


def _is_view(primitive: Primitive, operands: Sequence[Any], out: Array) -> bool:
    return primitive.is_view and isinstance(operands[0], Array) and out.buffer is operands[0].buffer


def _fitted(node: Node, of: Type) -> Node:
    if node.type.dtype is not of.dtype:
        node = cast(node, of.dtype)
    return node if node.type.shape == of.shape else broadcast(node, of.shape)
