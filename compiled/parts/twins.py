"""Modules that come anew, built like one that has a program: they are served by that, with tensors of their own.

A program that copies its model every few steps (a teacher, the fast weights of meta-learning) would otherwise get a
program for each copy. A module's *structure* is all that its tree holds but for the numbers in its tensors. What code
does with a module follows from its structure and from what lies outside of it, and that is guarded by the recording of
the one that has the program: so where the structures are equal and the guards hold, the program is right for both.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...ops.types import DType
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import Tensor
from ...tracing.counted import CountingDict
from ...tracing.declares import Declares, declares
from ...tracing.stored_places import stored_places
from ...tracing.watch import counter
from ...tracing.watched_order import WatchedOrder
from ..guards.value_kinds import own_attributes
from ..lazy.deferred_calls import NOT_NOTED, Deferred
from ..lazy.program_calls import ProgramCall
from .expected_call import Noted
from .expecting import is_due, put_function
from .guard_looks import Looks
from .noting import NotedSpecialisation

MOST_USES = 32  # of one module: what is used for longer gets a program of its own
MOST_PARTS = 4  # of one structure
MOST_KNOWN = 256  # structures that are told apart

_PLAIN = frozenset((bool, int, str, type(None), DType))
_TENSORS = ("_parameters", "_buffers")
# What a call does not read.
_STATE_DICTS = frozenset(
    (
        "_non_persistent_buffers_set", "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    )
)  # fmt: skip
_now = counter(("count", "modules", "training"))


class Structure(NamedTuple):
    """All that a module's tree holds, and its tensors in order."""

    key: Hashable
    tensors: tuple[Tensor, ...]


class _Unknown(Exception):
    """The tree holds what is not compared."""


class _Tree:
    """A walk through the tree of a module."""

    def __init__(self) -> None:
        self._modules: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self.tensors: list[Tensor] = []

    def key(self, module: Any) -> Hashable:
        """Equal for modules that differ in the numbers of their tensors only."""
        if id(module) in self._modules:
            return self._modules[id(module)]
        self._modules[id(module)] = len(self._modules)
        own = own_attributes(module)
        if type(own) is not CountingDict or not is_module(module) or not _declared(module).is_counted(module):
            raise _Unknown
        if stored_places.names(module):  # which may change without a count
            raise _Unknown
        return type(module), tuple(self._entries(own))

    def _entries(self, own: Mapping[str, Any]) -> Iterator[Hashable]:
        for name, value in own.items():
            if name in _TENSORS:
                yield name, tuple([(key, self._value(each)) for key, each in dict.items(value)])
            elif name == "_modules":
                held = dict.items(value)
                yield name, tuple([(key, None if each is None else self.key(each)) for key, each in held])
            elif name in _STATE_DICTS:
                continue
            elif type(value) is WatchedOrder:
                if len(value):
                    raise _Unknown  # hooks
            else:
                yield name, self._value(value)

    def _value(self, value: Any) -> Hashable:
        """Of numbers and text the value; anything but tensors has to be the same object."""
        kind = type(value)
        if kind in _PLAIN:
            return kind, value
        if kind is float:
            return kind, repr(value)  # -0.0 is not 0.0
        if kind is tuple:
            return tuple([self._value(each) for each in value])
        if kind in PLAIN_TENSORS:
            if id(value) not in self._places:
                self._places[id(value)] = len(self.tensors)
                self.tensors.append(value)
            return kind, self._places[id(value)]
        return kind, id(value)


def _declared(value: Any) -> Declares:
    return declares(type(value)) or Declares()


def is_module(value: Any) -> bool:
    """True for modules, whose attributes are counted."""
    return _declared(value).counter == "modules"


def structure_of(module: Any) -> Structure | None:
    """The structure of a module; None if its calls do not follow from that."""
    tree = _Tree()
    try:
        return Structure(tree.key(module), tuple(tree.tensors))
    except _Unknown:
        return None


class _Known:
    """What is known of one module, as long as that is there: `forget` is told when it ends."""

    def __init__(self, module: Any, forget: Callable[[Any], Any]) -> None:
        self.of = weakref.ref(module, forget)
        self.seen = -1
        self.structure: Structure | None = None
        self.kind: object = None  # one object for all structures that are alike
        self.uses = 0


class Twins:
    """The modules that have programs, and those that come anew."""

    def __init__(self) -> None:
        self._parts: dict[type, list[tuple[Any, Any, int]]] = {}  # by class: module, part, the call it came up in
        self._known: dict[int, _Known] = {}
        self._kinds: dict[Hashable, object] = {}
        self._plans: dict[NotedSpecialisation, TwinPlan | None] = {}

    def add(self, owner: Any, part: Any, call: int) -> None:
        """`owner` is served by `part` from this call of the whole function on."""
        if is_module(owner):
            self._parts.setdefault(type(owner), []).append((owner, part, call))

    def note(self, deferred: Deferred, owner: Any, args: tuple[Any, ...]) -> list[Any] | None:
        """Note a call of `owner` by the program of another module; the result in a list, None if there is none.

        Modules that came up in the same call of the whole function are no copies of each other.
        """
        earlier = [(m, part) for m, part, call in self._parts.get(type(owner), ()) if call < deferred.segments.calls]
        if not earlier or not deferred.segments.are_open:
            return None
        known = self._look(owner)
        if known.structure is None or (known.uses >= MOST_USES and len(earlier) < MOST_PARTS):
            return None
        for module, part in earlier:
            of = self._look(module)
            if of.structure is not None and of.kind is known.kind:
                result = self._expected(deferred, part, known.structure.tensors, args)
                if result is None:
                    result = self._noted(deferred, part, (of.structure.tensors, known.structure.tensors), args)
                if result is not None:
                    known.uses += 1
                    return result
        return None

    def _look(self, module: Any) -> _Known:
        known = self._known.get(id(module))
        if known is None or known.of() is not module:
            known = self._known[id(module)] = self._new(module)
        if known.seen != _now():
            known.seen, known.structure = _now(), structure_of(module)
            known.kind = None if known.structure is None else self._kind_of(known.structure)
        return known

    def _new(self, module: Any) -> _Known:
        """Nothing known of `module` yet; it is forgotten with the module, whose tensors its structure holds."""
        known, number = self._known, id(module)
        return _Known(module, lambda _: known.pop(number, None))  # before another object can have the number

    def _kind_of(self, structure: Structure) -> object:
        if len(self._kinds) >= MOST_KNOWN:
            self._known.clear()
            self._kinds.clear()  # what is found alike from now on is told apart from what was
        return self._kinds.setdefault(structure.key, object())

    def _expected(self, deferred: Deferred, part: Any, tensors: tuple[Tensor, ...], args: Any) -> list[Any] | None:
        """Note a call by a function that was written for such calls."""
        here = deferred.here
        for of in part.specialisations:
            plan = self._plans.get(of)
            for expected in here.expected.get(id(plan), ()) if plan is not None else ():
                result = expected(deferred, args, tensors)
                if result is not NOT_NOTED:
                    return [result]
                if deferred.here is not here:
                    return None  # a check has ended the segment
        return None

    def _noted(self, deferred: Deferred, part: Any, tensors: tuple[Sequence[Tensor], ...], args: Any) -> Any:
        """Note a call with the second `tensors` in the places of the first."""
        for of in part.specialisations:
            if of not in self._plans:
                self._plans[of] = TwinPlan.of(of)
            plan = self._plans[of]
            if plan is None or of.unverified:
                continue
            with of.lock:
                inputs = of.inputs_of(args, {})
                if inputs is not None and of.matches(*inputs):
                    return plan.note(deferred, tensors, inputs)
        return None


class TwinPlan:
    """How calls of one specialisation are noted with other tensors than those of its module."""

    def __init__(self, of: NotedSpecialisation) -> None:
        assert of.plan is not None
        self._of, self._plan = of, of.plan
        labels = {node.label for node in of.graph.inputs}
        self._captured = [each for each in of.captured.all if each.root.node.label in labels]
        self._call: ProgramCall | None = None
        self._moved: list[Any] = []  # captured tensors in whose places it has operands, besides arguments
        self._looks: Looks | None = None

    @staticmethod
    def of(specialisation: NotedSpecialisation) -> TwinPlan | None:
        """The plan; None where calls read gradients or numbers, ask which tensors are the same, return their module's
        own tensors, store tensors in it, or are not noted."""
        of, plan = specialisation, specialisation.plan
        if plan is None or of.gives_its_own or plan.gradients or plan.numbers or of.inputs.sources or of.needs_numbers:
            return None
        if of.recording.grads or of.recording.questions.are_compared or of.arguments.simple is None:
            return None
        if of.results.stored or any(output.spent is not None for output in of.results.fresh):
            return None
        return TwinPlan(of)

    def note(self, deferred: Deferred, tensors: tuple[Sequence[Tensor], ...], call_arguments: Any) -> list[Any] | None:
        """Note a call that matches, with the second `tensors` in the places of the first, which may be captured."""
        of, before = self._of, deferred.here
        instead = {id(one): other for one, other in zip(*tensors, strict=True)}
        if of.captured.copied or not all(self._fits(each, instead) for each in of.captured.all):
            return None
        moved = [each for each in self._captured if id(each.array) in instead]
        call = self._call_with(moved, instead)
        if not call.is_regular or not call.is_current():
            return None
        others = [instead[id(each.array)] for each in moved]
        fresh = self._plan.noted(deferred, call, others, call_arguments, instead)
        if fresh is None:
            return None
        result = of.results.hand_out(fresh, call_arguments, of.inputs.values)
        if is_due(before, id(self)) and sum(id(each.array) in instead for each in of.captured.all) == len(moved):
            self._expect(before, deferred, call_arguments[0], [id(tensor) for tensor in tensors[0]], others)
        return [result]

    def _expect(self, before: Any, deferred: Deferred, args: Any, of: Sequence[int], others: Sequence[Tensor]) -> None:
        """What has just been noted gets a function; `of` are the module's tensors, of which `others` are in places."""
        assert self._call is not None
        assert self._looks is not None
        places = [of.index(id(each.array)) for each in self._moved]
        labels = tuple([each.root.node.label for each in self._moved])

        def called(function: Any) -> Any:
            return lambda deferred, args, tensors: function(deferred, (*args, *[tensors[i] for i in places]))

        put_function(
            self._of, id(self), before, args, deferred, Noted(self._call, self._looks, labels, tuple(others)), called
        )

    @staticmethod
    def _fits(captured: Any, instead: Mapping[int, Tensor]) -> bool:
        """True for what stays, and for a tensor whose place another one can take: nothing is written to it."""
        other = instead.get(id(captured.array))
        return other is None or (not captured.written and not other.__dict__ and captured.fits(other))

    def _call_with(self, moved: list[Any], instead: Mapping[int, Tensor]) -> ProgramCall:
        if self._call is None or moved != self._moved:
            operands = [label for label, _ in self._plan.arguments] + [each.root.node.label for each in moved]
            stays = [(c.root.node.label, c.array) for c in self._captured if id(c.array) not in instead]
            call = ProgramCall(self._of.graph, operands, stays)
            self._call, self._moved = call, moved
            self._looks = Looks(self._of, lambda: self._of.captured.are_unmoved(moved) and call.is_current())
        return self._call
