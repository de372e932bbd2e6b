"""What a call returns: the recorded result's structure, with tensors of this call in their places.

A returned tensor is the very object that it was (an argument, a captured tensor, a gradient), or a view of such memory,
taken anew, or new. New tensors that share memory share it again: the graph gives their whole, and they are views of it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...compiler.graph import Graph, Node, Result
from ...ops.core import Step
from ...ops.layouts.orders import own_strides
from ...ops.memory import order_of
from ...ops.views import replay
from ...tape.grad_mode import no_grad
from ...tensors.tensor import Tensor, make
from ...tensors.written.unfollowed import mark_of_returned
from ..common.aliasing import met_as_aliases
from ..common.autograd_graph import FreedNode, histories, history_of, is_spent
from ..common.classes import is_a
from ..common.pytree import at, filled, leaves, rebuilt
from ..guards.sources import Source
from ..recording.derivative_stops import leads_on
from ..recording.plain_results import held, is_plain
from ..recording.recording import Recording
from ..recording.scalar_outputs import MARKED
from ..recording.validity import refusal
from ..symbolic.number import Computed
from .fresh_output import FreshOutput, order_in_memory, turned
from .fresh_tensors import FreshTensor, fresh_tensor
from .result_refusals import (
    is_cut_off,
    is_of_one_base,
    refuse_ambiguous,
    refuse_attributes_of,
    refuse_containers_from_outside,
    refuse_gradient_of,
    refuse_of_one_alias,
    refuse_other_base,
    refuse_other_history,
    refuse_replaced,
)
from .returned import tuples_from_outside

Fill = Callable[[list[Tensor], Any], Any]  # of the new tensors and (args, kwargs)


@dataclass(frozen=True, eq=False)
class Placed:
    """A leaf of the result that is filled at each call: ``fill(fresh tensors, (args, kwargs))``."""

    fill: Fill


@dataclass(frozen=True, eq=False)
class ItemOf:
    """Fills a leaf with the number in what is filled in there otherwise."""

    tensor: Fill

    def __call__(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        return self.tensor(fresh, call_arguments).ndarray.item()


class Results:
    """How to hand out the results of one specialisation. `tensors` are those of the recording that are made anew."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        refuse_containers_from_outside(recording)
        self._existing = list(_existing(recording))
        numbers = [number for appends in recording.scalar_outputs.appends for number in appends.numbers]
        trees = [recording.outcome, *(each.value for each in recording.stored)]
        given = [_tensor_of(leaf) for leaf in (*(leaf for tree in trees for leaf in filled(tree)), *numbers)]
        self._leaves = list({id(t): t for t in given if is_a(t, Tensor)}.values())
        self._wholes: dict[int, tuple[Tensor, Fill]] = {}
        self._apart: list[Tensor] = []  # aliases that the function has made, and views of these
        self.tensors: list[Tensor] = []
        self.fresh: list[FreshOutput] = []
        self._places: dict[int, Placed] = {}
        self._has_numbers = False
        # The result, with `Placed` and `Computed` leaves where a call fills something in.
        # A container that is returned and stored is one, and a tuple that was there before is this one.
        made: dict[int, Any] = {key: Placed(fill) for key, fill in tuples_from_outside(recording).items()}
        self.tree = rebuilt(recording.outcome, self._placed, made)
        for thing in held(recording.outcome):
            self._check_plain(thing)
        # The lists that a call appends numbers to, and the leaves that it appends.
        self.appends: list[tuple[Source, list[Any]]] = [
            (appends.source, [self._placed(number) for number in appends.numbers])
            for appends in recording.scalar_outputs.appends
        ]
        # What a call leaves in places outside of it.
        self.stored: list[tuple[Callable[[Any], None], Any]] = [
            (each.store_with(), rebuilt(each.value, self._placed, made)) for each in recording.stored
        ]
        self.is_one_tensor = self._is_one_tensor()

    def _is_one_tensor(self) -> bool:
        """True if the whole result is one new tensor, and not a view of one."""
        tree = self.tree
        fills = [fill for _, fill in self._wholes.values()]
        if self.stored or not is_a(tree, Placed) or not is_a(tree.fill, FreshTensor):
            return False
        return fills == [tree.fill] and tree.fill.is_as_made and not self.fresh[tree.fill.index].version

    @property
    def appends_anything(self) -> bool:
        """True if a call appends numbers to lists, or returns some: they would have to be known at once."""
        return bool(self.appends) or self._has_numbers

    def hand_out(self, fresh: list[Tensor], call_arguments: Any, numbers: list[Any]) -> Any:
        """The result of one call, in which the formulas have given `numbers`; what the function appends to lists is
        appended, and what it stores is stored."""
        for source, appended in self.appends:
            source.now().extend([number.fill(fresh, call_arguments) for number in appended])
        if issubclass(type(self.tree), Placed) and not self.stored:
            return self.tree.fill(fresh, call_arguments)
        placed: dict[Placed, Any] = {}  # a tensor that is returned twice is one object

        def fill(leaf: Any) -> Any:
            kind = type(leaf)
            if issubclass(kind, Computed):
                return numbers[leaf.position]
            if not issubclass(kind, Placed):
                return leaf
            if leaf not in placed:
                placed[leaf] = leaf.fill(fresh, call_arguments)
            return placed[leaf]

        made: dict[int, Any] = {}  # nor are two lists made of one
        result = rebuilt(self.tree, fill, made)
        for store, tree in self.stored:
            store(rebuilt(tree, fill, made))
        return result

    def let_go(self) -> None:
        """Forget the recorded call's own tensors."""
        self.tensors, self._wholes, self._existing, self._leaves, self._places = [], {}, [], [], {}
        self._apart = []
        del self._recording

    # ------------------------------------------------------------------------------------------------------ planning

    def _placed(self, leaf: Any) -> Any:
        if is_a(leaf, Computed):
            return leaf
        if is_a(leaf, MARKED):
            self._has_numbers = True
            return Placed(ItemOf(self._source(leaf.tensor)))
        if not is_a(leaf, Tensor):
            self._check_plain(leaf)
            return leaf
        if id(leaf) not in self._places:
            self._places[id(leaf)] = Placed(self._source(leaf))
        return self._places[id(leaf)]

    def _check_plain(self, leaf: Any) -> None:
        if not is_plain(leaf) and not self._recording.environment.reaches(leaf):
            raise refusal(
                f"the function returns {_described(leaf)}",
                self._recording.place_of_result,
                "Return tensors and numbers in tuples, lists and dicts: each call must make it anew.",
            )

    def _source(self, leaf: Tensor) -> Fill:
        for tensor, fill in self._existing:
            if tensor is leaf or (fill is None and _shows_part(leaf, tensor)):
                return fill or refuse_replaced(self._recording)
        if not self._recording.is_own(leaf):
            return lambda fresh, _: leaf  # a captured tensor that nothing is computed from
        refuse_ambiguous(leaf, self._recording)
        refuse_gradient_of(leaf, self._recording)
        refuse_attributes_of(leaf, self._recording)
        sharing = [(t, fill) for t, fill in self._existing if _shows_part(leaf, t)]
        if sharing:
            # A view is another one than one that shows the same: it is taken of what both are views of.
            behind = [each for each in sharing if leaf.base is not None and len(each[0].steps) < len(leaf.steps)]
            whole, fill = max(behind or sharing, key=lambda each: (is_of_one_base(leaf, each[0]), len(each[0].steps)))
        else:
            whole, fill = self._whole_of(leaf)
            if whole is leaf:
                return fill
        refuse_other_base(whole, leaf, self._recording)
        if not is_of_one_base(leaf, whole):
            refuse_of_one_alias(leaf, self._apart, self._recording)
            self._apart.append(leaf)
        between = [t.grad_fn for t, _ in self._existing if t is not whole and t.is_tracked()]
        refuse_other_history(whole, leaf, between, self._recording)
        return _view_of(whole, fill, leaf)

    def _whole_of(self, leaf: Tensor) -> tuple[Tensor, Fill]:
        """The new tensor that `leaf` is, or is a part of if other results show other parts."""
        memory = id(leaf.buffer.whole)
        if memory not in self._wholes:
            sharing = [t for t in self._leaves if t.buffer.whole is leaf.buffer.whole]
            alone = len(sharing) == 1 and not (leaf.viewed_without_grad or leaf.view_of_several or is_cut_off(leaf))
            whole = leaf if alone else _common_whole(sharing, self._recording)
            index = len(self.fresh)
            self.tensors.append(whole)
            self.fresh.append(self._fresh(whole, index))
            fill = fresh_tensor(index, whole, self._recording.modes.inference)
            self._wholes[memory] = (whole, fill)
        return self._wholes[memory]

    def _fresh(self, tensor: Tensor, index: int) -> FreshOutput:
        result = leaves(self._recording.outcome)
        path = next((path for path, leaf in result if _tensor_of(leaf) is tensor), ("whole", index))
        name = "_".join(("result", *map(str, path)))
        array, node = tensor.ndarray, history_of(tensor)
        strides = own_strides(array)
        order = None if strides is None else order_of(array)
        version = int(max(0, tensor.buffer.version))  # inference mode counts none
        if node is None:
            return FreshOutput(name, leaf=tensor.is_tracked(), strides=strides, order=order, version=version)
        if is_spent(node, stop=histories(self._recording.recorder.roots)):
            return FreshOutput(name, spent=FreedNode(node.title), strides=strides, order=order, version=version)
        return FreshOutput(name, live=True, strides=strides, version=version)


def graph_of(recording: Recording, results: Results) -> Graph:
    """Everything the call computed for the world outside: results, new gradients, writes to roots."""
    node = recording.recorder.node
    pairs = zip(results.fresh, results.tensors, strict=True)
    outputs = [Result(o.name, o.written(_node_of_result(o, t, recording))) for o, t in pairs]
    for slot in recording.fresh_grads():
        assert slot.after is not None
        order = order_in_memory(slot.after)
        value = node(slot.after) if order is None else turned(node(slot.after), order)
        outputs.append(Result(f"{_name_of(slot.tensor, recording)}_grad", value))
    outputs += [
        Result(f"new_{root.node.label}", root.region.node, into=root.node.label)
        for root in recording.recorder.roots
        if root.region.written
    ]
    of_numbers = recording.recorder.number_checks
    checks = dict.fromkeys([*recording.recorder.checks, *of_numbers.needed(), *of_numbers.presumed()])
    outputs += [Result("check", node, is_check=True) for node in checks]
    return Graph(recording.name, tuple(root.node for root in recording.recorder.roots), tuple(_distinct(outputs)))


def _node_of_result(output: FreshOutput, tensor: Tensor, recording: Recording) -> Node:
    node = recording.recorder.node(tensor)
    return recording.recorder.detached(node) if output.live and not leads_on(tensor) else node


def _name_of(tensor: Tensor, recording: Recording) -> str:
    for root in recording.recorder.roots:
        if root.array is tensor:
            return root.node.label
    return tensor.label or "tensor"


def _distinct(results: list[Result]) -> list[Result]:
    seen: dict[str, int] = {}
    out = []
    for result in results:
        count = seen[result.name] = seen.get(result.name, 0) + 1
        out.append(result if count == 1 else replace(result, name=f"{result.name}_{count}"))
    return out


def _tensor_of(leaf: Any) -> Any:
    """The tensor behind a number that the function only passes on; other leaves as they are."""
    return leaf.tensor if is_a(leaf, MARKED) else leaf


def _existing(recording: Recording) -> Any:
    """The tensors that were there before or stay behind as gradients, and where a call finds them."""
    gradients = {id(s.before): s for s in recording.grads.values() if s.before is not None}
    gradients.update({id(s.after): s for s in recording.fresh_grads()})
    paths = {id(root.array): path for path, root in recording.arguments}
    for slot in gradients.values():
        path = paths.get(id(slot.tensor))
        if slot.after is not None:
            yield slot.after, _gradient_of(slot, path)
        if slot.before is not None and slot.before is not slot.after:
            yield slot.before, None  # no longer to be found
    for root in recording.recorder.roots:
        if id(root.array) not in gradients and is_a(root.array, Tensor):
            yield root.array, _root_of(root.array, paths.get(id(root.array)))
    for alias in met_as_aliases(recording):
        yield alias, _root_of(alias, None)


def _gradient_of(slot: Any, path: Any) -> Fill:
    tensor = slot.tensor
    return lambda fresh, call_arguments: (tensor if path is None else at(call_arguments, path))._grad


def _described(thing: Any) -> str:
    if is_a(thing, (type, types.FunctionType)):
        return f"{thing.__qualname__}, which it makes anew at each call"
    return f"an object of type {type(thing).__name__}"


def _root_of(array: Tensor, path: Any) -> Fill:
    if path is None:
        return lambda fresh, call_arguments: array
    return lambda fresh, call_arguments: at(call_arguments, path)


def _shows_part(part: Tensor, whole: Tensor) -> bool:
    return part.buffer.whole is whole.buffer.whole and part.steps[: len(whole.steps)] == whole.steps


def _common_whole(sharing: list[Tensor], recording: Recording) -> Tensor:
    """One tensor that all of `sharing` are views of, with the history that the most of them have."""
    candidates = [t if t.base is None else t.base for t in sharing]
    wholes = [t for t in candidates if not t.steps]
    tracked = [t for t in wholes if t.is_tracked()]
    first = sharing[0]
    if not tracked and any(t.is_tracked() for t in sharing):
        raise refusal(
            "results share memory whose whole, with its history, is not there any more",
            recording.place_of_result,
            "Use the out-of-place form: squeeze() for squeeze_(), t() for t_().",
        )
    return (tracked or wholes or [make(first.buffer.whole, first.buffer)])[0]


def _view_of(whole: Tensor, fill: Fill, part: Tensor) -> Fill:
    steps: tuple[Step, ...] = part.steps[len(whole.steps) :]
    tracked = part.is_tracked()
    leaf = tracked and part.is_leaf
    differentiable = is_of_one_base(part, whole)  # what detach() ends
    without = part.viewed_without_grad and (leaf or not tracked)  # itself, not what it is a view of
    untracked = differentiable and (without or (part.requires_grad and not tracked))
    of_several = mark_of_returned(part)
    has_own_versions = part.buffer is not whole.buffer  # ``.data``
    # Once what it shows requires grad and is written, a differentiable view does as well: also if neither does now.
    cut = (whole.is_tracked() or not differentiable) and (leaf or not tracked) and not untracked

    def view(fresh: list[Tensor], call_arguments: Any) -> Any:
        source = fill(fresh, call_arguments)
        if untracked and steps:
            with no_grad():
                shown = replay(source, steps)
        else:
            shown = replay(source.detach() if cut or not steps else source, steps)
        if part.base is None and shown.base is not None:
            shown = shown.detach()  # which came last
        if has_own_versions and shown.buffer is source.buffer:
            shown = shown.data
        # What in-place writes refuse of views hangs on how they were made.
        shown.viewed_without_grad, shown.view_of_several = part.viewed_without_grad, of_several
        return shown.requires_grad_() if leaf else shown

    return view
