"""Recording one call: the function runs eagerly on the user's tensors while a graph of it is made.

What comes out says all that later calls must know: the graph's inputs and where their memory is found, what must hold
for the graph to be the right one (guards), and what the call did to the world (results, writes, gradients).
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...compiler.capture import Recorder
from ...compiler.origins import Whereabouts
from ...compiler.roots import Root, is_tracked
from ...ops.core import interpreted
from ...ops.pointwise import cast
from ...ops.types import float64
from ...tape.nodes import Node as TapeNode
from ...tape.nodes import count_now
from ...tape.selected import declare_kept
from ...tape.tape import Tape
from ...tensors.tensor import Tensor, make
from ...tracing.entries import SameEntries
from ...tracing.watch import watched
from ..common.aliasing import with_history
from ..common.argument_names import name_captured, name_of_argument
from ..common.classes import is_a
from ..common.pytree import Path, leaves
from ..common.tensor_memory import watch_history
from ..guards.declared import Guard, facts_of, no_patches
from ..guards.environment import Environment
from ..guards.reachability import Codes
from ..symbolic.number import Formulas, Number
from ..symbolic.tape import NumberInput, NumberTape, Scalar
from .branch_trials import BranchTrials
from .call_inputs import CallInputs, LearnedInputs, Noted, noted
from .cond_gates import follow_writes
from .derivative_stops import stops_of
from .grad_slot import GradSlot
from .scalar_outputs import ScalarOutputs, plain
from .stored_values import StoredValue, found_stores
from .substitution import NumberLocation
from .symbolic_inputs import SymbolicInputs, shown
from .tensor_identity import TensorIdentityGuards
from .validity import (
    CallTrace,
    ThreadModes,
    check_classes,
    check_gradients,
    check_origins,
    check_overlaps,
    check_roots,
    refusal,
)  # fmt: skip


@dataclass(eq=False)
class Recording:
    """One recorded call. It is the thread's watcher while it runs."""

    name: str
    strict: bool = True  # raise at a line that cannot be recorded; else go on eagerly and raise when the call is done
    environment: Environment = field(init=False)
    questions: TensorIdentityGuards = field(init=False)
    recorder: Recorder = field(init=False)
    guards: list[Guard] = field(default_factory=list)
    numbers: list[NumberInput] = field(default_factory=list)
    grads: dict[int, GradSlot] = field(default_factory=dict)
    arguments: list[tuple[Path, Root]] = field(default_factory=list)
    result: Any = None
    outcome: Any = None  # the same, with stand-ins for numbers that each call computes
    modes: ThreadModes = field(default_factory=ThreadModes)
    wanted: list[NumberLocation] = field(default_factory=list)  # numbers that shall be data
    learned: LearnedInputs = field(default_factory=LearnedInputs)  # from earlier calls
    inputs: CallInputs = field(default_factory=CallInputs)
    given: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})  # its inputs; the call may put others in their places
    noted: Noted = field(init=False)
    symbolic_inputs: SymbolicInputs = field(init=False)
    codes: Codes = field(default_factory=dict)  # code that earlier calls have run without its being found
    scalars: list[Scalar] = field(default_factory=list)
    transient: str = ""
    counted: set[str] = field(default_factory=lambda: {"count"})  # what of `changes` concerns the program
    flag_changed: str = ""  # where requires_grad of a tensor from outside was set
    written_unseen_at: str = ""  # where memory of a tensor with a history got numbers that the tape knows nothing of
    own: dict[int, weakref.ref[Tensor]] = field(default_factory=dict)  # tensors made during the call
    done: bool = False  # the call itself
    first_node: int = field(default_factory=count_now)  # what the tape had before has smaller numbers
    scalar_outputs: ScalarOutputs = field(init=False)
    stored: list[StoredValue] = field(default_factory=list)  # what later calls put in its places as well
    _entries: set[SameEntries] = field(default_factory=set)  # that have been read
    _is_settled: bool = False
    _calls: CallTrace = field(init=False)
    _trials: BranchTrials = field(default_factory=BranchTrials)

    def __post_init__(self) -> None:
        self.recorder = Recorder(Whereabouts(), self.strict, stops_of)
        self.number_checks = self.recorder.number_checks
        hide, show = (lambda: self.symbolic_inputs.hide()), (lambda: self.symbolic_inputs.show())
        self._calls = CallTrace(self._clear_for, hide, show)

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `function` eagerly, recording it; returns what it returns and raises what it raises.

        CaptureError if the call cannot be repeated: with `done`, the call itself has been done, else nothing has.
        """
        name_captured(function)
        self.guards += no_patches()
        self.environment = Environment(function, [*args, *kwargs.values()], self.codes)
        self.noted = noted(function, self.environment, args, kwargs)
        self.inputs = self.learned.inputs(function, self.environment, args, kwargs)
        args, kwargs = self.given = self.inputs.of(args, kwargs)
        given = [leaf for _, leaf in leaves((args, kwargs))]
        self.environment.refuse_unwatchable(given)
        self._add_arguments(function, args, kwargs)
        self.questions = TensorIdentityGuards(self.environment, [leaf for leaf in given if is_a(leaf, Tensor)])
        self.symbolic_inputs = SymbolicInputs(Formulas(self), self.wanted)
        self.scalar_outputs = ScalarOutputs(function)
        self.recorder.mark_item = self._marked
        try:
            try:
                self._run_opened(function, args, kwargs)
            finally:
                self._leave_no_stand_ins()
        finally:
            self._leave_no_stand_ins()  # wholly: an interrupt may have come within
        self._check()
        self.environment.open(self.inputs.opened_with(self.symbolic_inputs.open_facts()))
        self.inputs.keep_apart(each.source.owner for each in self.stored)
        return plain(self.result)

    def _run_opened(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.symbolic_inputs.find(self.environment, (args, kwargs))
        run = functools.partial(self._run, function)
        self._calls.watch(self.symbolic_inputs.applied, self.environment, (args, kwargs), run)
        self.done = True
        self.result = shown(self.result)
        self.symbolic_inputs.find_escaped()
        for slot in self.grads.values():
            slot.after = slot.tensor._grad
        self.outcome, _ = self.scalar_outputs.settle(self.environment, self.outcome)
        self.symbolic_inputs.forget([appends.source for appends in self.scalar_outputs.appends])
        self._is_settled = True

    def _leave_no_stand_ins(self) -> None:
        """Where the call has come to no end, numbers that the program has kept become plain ones."""
        if not self._is_settled:
            self.scalar_outputs.make_plain()
            self.symbolic_inputs.abandon()
            self._is_settled = True  # once is enough, unless an interrupt came: it looks at all objects there are

    @property
    def seen(self) -> Environment | None:
        """What the function can reach, if the recording came so far as to look."""
        return getattr(self, "environment", None)

    def stores_nothing(self) -> bool:
        """True if only code ran that was found beforehand, and none of it can put a tensor where others find it."""
        if not self.done or self._calls.is_blind or self.environment.unknown(self._calls.codes):
            return False
        return self.environment.stores_nothing()

    def _marked(self, tensor: Any) -> Any:
        """What ``item()`` gives: a number that is known again if the program only passes it on, else None."""
        if self.transient:
            return None
        frame: Any = sys._getframe()
        while frame.f_code is not Tensor.item.__code__:
            frame = frame.f_back
        return self.scalar_outputs.mark(tensor, frame.f_back, Recording._call.__code__, self.symbolic_inputs.is_alone)

    def _clear_for(self, frame: types.FrameType) -> None:
        """Let code that was not found see plain numbers, ahead of its first instruction."""
        puts = self.symbolic_inputs.sources or self.scalar_outputs.marks_any
        if not (puts and self.environment.is_stranger(frame)):
            return
        if self.symbolic_inputs.withdraw() | self.scalar_outputs.withdraw():
            self.transient = f"{frame.f_code.co_name}(), which was not found, runs in the middle of the call"

    def _run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        naming = functools.partial(name_of_argument, self.inputs.names(function, args))
        names = [source.name(naming) for source in self.symbolic_inputs.sources]
        tape = NumberTape(self.recorder, make, names) if names else Tape(self.recorder, make)
        watched(self, interpreted, tape, self._call, function, args, kwargs)
        if is_a(tape, NumberTape):
            self.scalars = list(tape.scalars.values())
            tape.let_go()
            for scalar in self.scalars:
                self.own.pop(id(scalar.root.array), None)  # the recorder keeps it, as a root
        self.outcome = self.symbolic_inputs.kept(self.result, self.environment.facts)

    def _call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        args, kwargs = self.inputs.arguments(args, kwargs)
        self.result = function(*args, **kwargs)
        declare_kept(leaf for _, leaf in leaves([self.result, [s.tensor._grad for s in self.grads.values()]]))

    def _check(self) -> None:
        """CaptureError if the call did what cannot be repeated; SideEffect for what nothing can take back."""
        self._trials.check()
        if self.recorder.refused is not None:
            raise self.recorder.refused  # the function has caught it
        if imported := self.environment.imported():
            self.transient = f"the function imports {imported}"
        if self._calls.is_blind:
            self.transient = "a profiler is at work, so that nobody sees what the function calls"
        if self._calls.is_torn:
            self.transient = "an interrupt has come in the middle of a collection of garbage"
        if self.symbolic_inputs.is_withdrawn:
            self._learn_codes()
            self.transient = self.transient or "something else looks at the program's numbers in the middle of the call"
        if self.transient:
            return
        if self.recorder.failed:
            raise refusal(
                "an index was out of range, a divisor 0 or a value not as required, and the function went on",
                f"at {self.recorder.failed}",
                "Which way it takes depends on numbers: check them outside.",
            )
        self._calls.check()
        self.modes.check(self.name, effect_lines := self._calls.effect_lines)
        check_classes(self.guards[0].holds(), effect_lines)
        check_roots(self, effect_lines)
        check_origins(self.recorder.roots, self.is_own)
        check_gradients(self.fresh_grads(), self.recorder.roots, effect_lines)
        check_overlaps(self.recorder.roots)
        self.transient, self.stored = found_stores(self.environment, self.symbolic_inputs, self.result, self.outcome)
        if self.transient:
            return
        self.environment.refuse_side_effects(effect_lines)
        self.questions.check([*self.environment.codes, *self._calls.codes])
        self._learn_codes()
        self._guard_unused()

    def _learn_codes(self) -> None:
        """Code ran that was not found beforehand: the next call is recorded with an eye on what it reaches."""
        unknown = self.environment.unknown(self._calls.codes)
        self._calls.codes = {}
        if unknown:
            self.codes.update(unknown)
            names = ", ".join(code.co_name for code in unknown)
            self.transient = f"the function runs code that is new at each call ({names})"

    def _guard_unused(self) -> None:
        """The function may have asked tensors for their shape, type or flags that it computes nothing with."""
        used = {id(root.array) for root in self.recorder.roots}
        used.update(id(t) for each in self.stored if not each.is_guarded for t in each.tensors_before())
        for tensor in self.environment.tensors():
            if id(tensor) not in used and not self.is_own(tensor):
                get = functools.partial(facts_of, tensor)
                watch_history(tensor)
                what = f"shape, type and flags of {tensor.label or 'a tensor'}"
                self.guards.append(Guard(what, get, get(), "", of_gradients=True))

    def _add_arguments(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = self.inputs.names(function, args)
        for path, leaf in leaves((args, kwargs)):
            if is_a(leaf, Tensor) and not any(r.array is leaf for _, r in self.arguments):
                self.arguments.append((path, self.recorder.add_root(leaf, name_of_argument(names, path))))
        for tensor in with_history(self.environment.tensors()):
            if not self.recorder.knows(tensor):
                self.recorder.node(tensor)

    # -------------------------------------------------------------------------------------------- watching (Watcher)

    def read(self, describe: str, get: Callable[[], Any], value: Any) -> None:
        if is_a(value, Number):
            return  # it is found where it came from
        if is_a(get, SameEntries):  # which modules read again and again
            if get in self._entries:
                return
            self._entries.add(get)
        strict = self.environment.by_identity and get() is value
        self.guards.append(Guard(describe, get, value, str(self.recorder.whereabouts.now()), by_identity=strict))

    def number(self, describe: str, get: Callable[[], float], value: float) -> Tensor:
        tensor = make(np.asarray(value, np.float64))
        del self.own[id(tensor)]  # the recorder keeps it, as a root
        self.numbers.append(NumberInput(describe, get, self.recorder.add_number(tensor, describe)))
        return tensor

    def tensor_number(self, tensor: Tensor) -> Any:
        number = cast(tensor.detach(), float64)
        self.recorder.promote_as_number(number)
        return number

    def read_of(self, kind: str) -> None:
        self.counted.add(kind)

    def hashed(self, tensor: Tensor) -> None:
        if not self.is_own(tensor):
            self.questions.hashed(tensor, str(self.origin()))

    def attribute_missing(self, tensor: Tensor, name: str) -> None:
        if not self.is_own(tensor):
            self.questions.attribute_missing(tensor, name)

    def transient_because(self, reason: str) -> None:
        self.transient = reason

    def made(self, tensor: Tensor) -> None:
        self.own[id(tensor)] = weakref.ref(tensor)

    def is_own(self, tensor: Tensor) -> bool:
        """True for tensors made during the call: what happens to them does not concern later calls."""
        made = self.own.get(id(tensor))
        return made is not None and made() is tensor

    def grad_read(self, tensor: Tensor) -> None:
        if id(tensor) not in self.grads and not self.is_own(tensor):
            self.grads[id(tensor)] = GradSlot(tensor, tensor._grad, read_first=True)

    def grad_written(self, tensor: Tensor) -> None:
        if id(tensor) not in self.grads and not self.is_own(tensor):
            self.grads[id(tensor)] = GradSlot(tensor, tensor._grad, read_first=False)

    def aliased(self, tensor: Tensor) -> None:
        self.recorder.node(tensor)

    def flag_written(self, tensor: Tensor) -> None:
        if not self.is_own(tensor):
            self.recorder.node(tensor)
            self.flag_changed = str(self.origin())

    def hooked(self, node: Any) -> None:
        if self.is_from_outside(node):
            self.forbid("a hook on a graph that began outside of the function", "Register it where the graph begins.")

    def gated(self, tensor: Tensor, inside: Tensor, taken: bool) -> None:
        follow_writes(self.recorder, tensor, inside, taken)

    def written(self, tensor: Tensor, seen_by: Tensor | None) -> None:
        if self.written_unseen_at:
            return
        self.recorder.node(tensor)
        known: list[Any] = [*(root.array for root in self.recorder.roots), *self.alive()]
        concerned = [t for t in known if t.buffer.whole is tensor.buffer.whole and is_tracked(t)]
        if any(seen_by is None or (t is not seen_by and t.base is not seen_by) for t in concerned):
            self.written_unseen_at = str(self.origin())

    def forbid(self, what: str, instead: str) -> None:
        if self.transient:
            return  # this call is not repeated anyway
        place = f"{what} inside a compiled function\n  at {self.recorder.whereabouts.now()}\n"
        self.recorder.refuse(f"{place}  Later calls would not do it again. {instead}")

    def is_from_outside(self, node: TapeNode) -> bool:
        """True for an operation that was done before the call, be it in another recording, or by another thread."""
        return node.origin is None or node.sequence < self.first_node

    def differentiated(self, node: TapeNode) -> None:
        if self.is_from_outside(node):
            self.recorder.refuse(
                "backward() goes through a graph that began outside of the compiled function\n"
                f"  at {self.recorder.whereabouts.now()}\n"
                "  Later calls would have another graph there: compute it inside, or call backward() outside."
            )

    def deriving(self, origin: Any, function: Callable[..., Any], *args: Any) -> Any:
        return self.recorder.whereabouts.deriving(origin, function, *args)

    def origin(self) -> Any:
        return self.recorder.whereabouts.now()

    def trial(self, function: Callable[..., Any], arguments: list[Any], run: Callable[[], Any]) -> Any:
        return self._trials.run(self._calls, function, arguments, run)

    def module_called(self, module: Any, path: str) -> None:
        self.recorder.whereabouts.enter_module(path)

    def module_left(self) -> None:
        self.recorder.whereabouts.leave_module()

    # ------------------------------------------------------------------------------------------------------ outcome

    def fresh_grads(self) -> list[GradSlot]:
        """The slots that hold a new gradient after the call."""
        return [s for s in self.grads.values() if s.after is not None and s.after is not s.before]

    @property
    def place_of_result(self) -> str:
        """Where the function returned, for a message."""
        return self._calls.effect_lines.at_return(f"the result of {self.name}")

    def let_go(self) -> None:
        """Forget the recorded call's arguments, results and gradients, so that only the user keeps them alive."""
        self.result, self.outcome, self.given, self.stored = None, None, ((), {}), []
        self.grads.clear()
        parts: list[Any] = [self.questions, self.environment, *(root for _, root in self.arguments)]
        for part in parts:
            part.let_go()

    def alive(self) -> list[Tensor]:
        """The tensors that the call has made and somebody still holds."""
        return [t for t in (ref() for ref in self.own.values()) if t is not None]
