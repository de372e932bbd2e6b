"""``with tg.deferred():``: a whole program as re-recorded calls run, without any compiled function."""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeVar

from ..ops.core import MAY_WAIT, current, switch
from ..tape.anomaly import CHECKS_ALL
from ..tape.grad_mode import is_recording
from ..tape.reverse import backward
from ..tensors.tensor import EAGER
from ..tracing.tracebacks import boundary, fold
from ..tracing.user_warning import warn_at_user
from ..tracing.watch import A_PASS, AT_ONCE, local, served, set_server
from .common.budget import Budget
from .common.callables import owner_of
from .common.classes import is_a
from .common.collection import listening, set_listener
from .common.threads import hear_starts, heard_by
from .function import Subprogram
from .guards.onlookers import threads_are_absent, will_look
from .guards.value_kinds import is_optimizer
from .lazy.deferred_calls import Deferred
from .lazy.departures import Departures
from .lazy.expected_ops import NotingTape, noted_as_before
from .lazy.finalisers import Aside
from .lazy.segments import Segments
from .parts.subprograms import Subprograms
from .verification.programs import Checks

CALLS_AFTER_BACKWARD = 16  # pieces of work, in programs without modules: then the next step has begun
BARE_PASSES = 3  # of steps without modules: so do further ones have none, and what is noted begins with a pass

F = TypeVar("F", bound=Callable[..., Any])


class deferred:
    """Within the block, or the decorated function, Python runs as ever, and C does the arithmetic.

    Operations and calls of models, losses, ``backward()`` and optimizers are noted, and done when a number is needed
    (``item()``, ``print``, ``if``, numpy), after each step of an optimizer, and at the end of the block; what comes a
    second time is one C program, as in a function under ``tg.compile`` that cannot be replayed. While nothing is
    pending, operations on a few numbers without a history are done at once. Results are those of eager mode up to
    roundings. The graph behind a model's result is one node. Blocks may be nested, in which case the
    outer one counts; inside a compiled function the block has no effect. A block may be entered again and again: its
    programs are kept. Where other threads of the program run, which could look at results that are pending, the block
    has no effect: not from its beginning (with a RuntimeWarning), or from the start of the first thread on.

    With ``verify=N`` numpy computes once more what C computes in every Nth step (from one step of an optimizer to the
    next), operation by operation from the same memory, and a difference that roundings do not explain raises
    VerificationError with the line. `report` says how much was compared. ValueError for a negative `verify`.

    With ``tiered=True``, which is what ``python -m tracegrad run --compile`` says, a program is built only once its
    part has come so often that this is worth it, by a copy of the process beside it; see `explain`. What a program
    computes then depends on counts and on what the cache holds, not on time: runs with the same cache give the same
    bits.

    >>> import tracegrad as tg
    >>> with tg.deferred():
    ...     x = tg.ones(3, requires_grad=True)
    ...     loss = (x * 2).sum()
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """

    def __init__(self, verify: int = 0, tiered: bool = False) -> None:
        if verify < 0:
            raise ValueError(
                f"deferred() wants verify to be a number of steps from 0 on, got {verify}\n"
                "  in the call of deferred()\n  Pass verify=N to compare every Nth step, or 0 for none."
            )
        self.segments = Segments("deferred", tiered)
        self._checks = Checks(verify) if verify else None
        if self._checks is not None:
            self.segments.checked = self._checks.run
        self.parts = Subprograms(Subprogram, wanted=True, tiered=tiered)
        self._open: list[_Entered] = []

    @property
    def report(self) -> str:
        """What ``verify=N`` has compared so far, in one line."""
        if self._checks is None:
            return "nothing was compared"
        checks = self._checks
        what = f"{checks.compared} runs of {len(self.segments.programs)} programs in {checks.steps} steps"
        return (
            f"{what} were compared with numpy; the largest difference is {checks.largest:.3g} units of the last place"
        )

    def explain(self) -> str:
        """How many programs there are and where they come from; places whose parts come in too many forms.

        >>> import tracegrad as tg
        >>> print(tg.deferred(tiered=True).explain())
        0 programs: 0 from the cache, 0 built, 0 of them beside the program
        """
        tiers = self.segments.tiers
        text = f"{len(self.segments.programs)} programs"
        return text if tiers is None else f"{text}: {tiers.text}"

    def __enter__(self) -> deferred:
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == "contextlib" and frame.f_back is not None:
            frame = frame.f_back  # whoever has an ExitStack enter it
        self._leave_stale(frame)
        if CHECKS_ALL or current() is not EAGER or _is_observed():
            self._open.append(_Entered(frame))
            return self
        entered = _Entered(frame, _Block(self.segments, self.parts))
        try:
            self._open.append(entered)
            self._put_in_place(entered)
        except BaseException:  # an interrupt: Python does not call __exit__ then
            self._leave(entered)
            raise
        return self

    @boundary
    def __exit__(self, *exc_info: object) -> None:
        entered = self._open[-1] if self._open else None
        try:  # twice, as in `ops.core.interpreted`: an interrupt may come while it is left
            try:
                if entered is not None and entered.block is not None:
                    entered.block.interpreter.settle()
            except Exception as error:
                fold(error)
                raise
            finally:
                self._leave(entered)
        finally:
            self._leave(entered)

    def _put_in_place(self, entered: _Entered) -> None:
        block = entered.block
        assert block is not None
        set_listener(Aside(block.interpreter).both)
        set_server(functools.partial(self._serve, block))
        hear_starts(block.before)
        block.begin(entered.frame)

    def _leave(self, entered: _Entered | None) -> None:
        """Put everything back; done twice, it is the same."""
        if entered is not None:
            entered.put_back()
            if self._open and self._open[-1] is entered:
                self._open.pop()

    def _leave_stale(self, frame: Any) -> None:
        """Leave blocks whose end an interrupt has skipped: their frame is over, or is about to enter them again."""
        while self._open and self._open[-1].is_stale(frame):
            self._leave(self._open[-1])

    def __call__(self, function: F) -> F:
        @boundary
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            try:
                with self:
                    return function(*args, **kwargs)
            except Exception as error:
                fold(error)
                raise

        return wrapped  # type: ignore[return-value]

    def _serve(self, block: _Block, whole: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        if block.has_ended:
            return otherwise(*args, **kwargs)
        if whole is AT_ONCE:
            return block.at_once(otherwise, args)
        if block.rests(whole, args):
            return otherwise(*args, **kwargs)
        if whole is backward:
            block.pass_begins()
        block.served += 1
        try:
            result = self.parts.serve(block.interpreter, whole, otherwise, args, kwargs)
        finally:
            block.served -= 1
        if is_optimizer(owner_of(whole)):
            block.interpreter.settle()  # a step is over: the next one shall take the same way
            self.segments.calls += 1  # as calls of a step are counted: what comes up from now on may be a copy
            if self._checks is not None:
                self._checks.step()
        return result


class _Entered:
    """A block from its beginning to its end, with what was in place before; no `block` where another one, or nothing,
    counts."""

    def __init__(self, frame: Any, block: _Block | None = None) -> None:
        self.frame, self.instruction, self.block = frame, frame.f_lasti, block
        self.thread = threading.get_ident()
        self.stack, self.server, self.listener = switch.stack, local.server, listening()
        self.of_threads = heard_by()

    def put_back(self) -> None:
        """What was in place before; nothing happens the second time."""
        if self.block is not None:
            switch.stack = self.stack
            set_server(self.server)
            set_listener(self.listener)
            hear_starts(self.of_threads)

    def is_stale(self, frame: Any) -> bool:
        """True if the frame that has entered it runs no more, or (`frame`) enters it again at the same instruction."""
        if frame is self.frame:
            return frame.f_lasti == self.instruction
        if self.thread != threading.get_ident() or self.frame.f_code.co_flags & MAY_WAIT:
            return False
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is None


class _Block:
    """One entered block: its interpreter, until the program starts a thread."""

    def __init__(self, segments: Segments, parts: Subprograms) -> None:
        self.interpreter = Deferred(segments)
        self._parts = parts
        self.interpreter.is_idle = True
        self.tape = NotingTape(self.interpreter)
        self.tape.expected = functools.partial(noted_as_before, self.interpreter)
        self.has_ended = False
        self.departures, self.budget = segments.departures, segments.budget
        self.served = 0  # pieces of the library's work that are under way
        self._entry: Any = None  # of the stack of interpreters, while the program is eager for a while
        self._calls = 0  # since then; from the backward pass on
        self._has_stepped = False
        self._bare = 0  # backward passes one after another of steps without modules
        self._called: dict[int, weakref.ref[Any]] = {}  # in eager mode: with what steps begin, and optimizers

    def begin(self, frame: Any) -> None:
        """Note what comes, or be eager as long as little has been computed."""
        entry = (self.tape, frame)
        if self.budget is not None and not self.budget.is_worth_compiling and not switch.stack:
            self._entry = entry
        else:
            switch.stack = (*switch.stack, entry)

    def rests(self, whole: Any, args: tuple[Any, ...]) -> bool:
        """True for a piece of work that is done eagerly: until the program has computed enough, and what comes after a
        departure from the known ways at a hopeless line. That ends as the next step begins: with the first module that
        is called after a backward pass."""
        departures, budget = self.departures, self.budget
        if self.served or departures is None or budget is None:
            return False
        is_pass = whole is backward or whole is A_PASS
        is_module = not is_pass and not is_a(whole, (FunctionType, MethodType))
        if self._entry is None:
            return self._goes_on_eagerly(departures, budget, whole if is_module else None, is_pass)
        begins = self._begins(budget, whole, is_module, args)
        if not (begins and budget.is_worth_compiling) or switch.stack:
            return True
        switch.stack, self._entry = (self._entry,), None
        budget.times.begin_noting()
        for called in self._called.values():
            if (owner := called()) is not None:
                self._parts.know(owner)
        self._called.clear()
        return False

    def _begins(self, budget: Budget, whole: Any, is_module: bool, args: tuple[Any, ...]) -> bool:
        """Count a piece of work in eager mode; True if a step begins with it (with a pass, if it has no modules)."""
        if whole is backward or whole is A_PASS:
            self._bare = 0 if budget.has_called else self._bare + 1
            budget.step(args[0])
            self._has_stepped, self._calls = True, 0
            return self._bare > BARE_PASSES
        is_first = is_module and budget.called(whole)
        owner = whole if is_first else owner_of(whole)
        if is_first or is_optimizer(owner):
            self._called[id(owner)] = weakref.ref(owner)
        budget.piece()
        self._calls += self._has_stepped or not budget.passes
        if not budget.passes:  # inference, as far as one can see
            return is_module or self._calls > CALLS_AFTER_BACKWARD
        return is_first or (self._calls > CALLS_AFTER_BACKWARD and not budget.has_called)

    def _goes_on_eagerly(self, departures: Departures, budget: Budget, module: Any, is_pass: bool) -> bool:
        """True, for a piece of work while the program's is noted, if it and what comes after it shall be eager."""
        is_new = False
        if is_pass:
            is_new = not budget.has_called and budget.expenses.are_awaited(budget.work)  # a step without modules begins
            departures.passed()
            budget.noted_step()
        elif module is not None:
            departures.called(module)
            is_new = budget.called(module) and is_recording() and not budget.is_worth_compiling
        is_unwanted = departures.is_hopeless or is_new or not budget.expenses.are_allowed(budget.work)
        return is_unwanted and self._rest(departures, is_pass)

    def _rest(self, departures: Departures, is_pass: bool) -> bool:
        """Go on in eager mode, if this block alone computes; True if so."""
        self.interpreter.settle()
        departures.rested()
        if len(switch.stack) != 1 or switch.stack[0][0] is not self.tape:
            return False
        self._entry, self._calls, self._has_stepped = switch.stack[0], 0, is_pass
        switch.stack = ()
        return True

    def pass_begins(self) -> None:
        """Where what is pending has passed and written before, parameters are updated by hand, and a step is over: the
        next one shall take the same way. Without looks at numbers all steps would be one."""
        if self.interpreter.has_passed and self.interpreter.here.writes:
            self.interpreter.settle()
        self.interpreter.has_passed = True

    def at_once(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """``function(*args)`` in eager mode, if this block alone computes."""
        before = switch.stack
        if self._entry is not None and not before:
            return served(None, function, *args)  # is no work of the program's steps, nor do they begin within it
        if len(before) != 1 or before[0][0] is not self.tape:
            return function(*args)
        self.interpreter.settle()
        try:  # twice, as in `ops.core.interpreted`: an interrupt may come within ``finally``
            try:
                switch.stack = ()
                return served(None, function, *args)
            finally:
                switch.stack = before
        finally:
            switch.stack = before

    def before(self, thread: threading.Thread) -> None:
        """If `thread`, which starts, is the program's: compute what is pending and go on in eager mode, since it sees
        tensors at any time. Those of progress bars and writers of logs see none."""
        if not will_look(thread):
            return
        self.interpreter.settle()
        self.has_ended = True
        switch.stack = tuple(entry for entry in switch.stack if entry[0] is not self.tape)


def _is_observed() -> bool:
    """True, with a warning, if another thread of the program could see results that are pending."""
    if threads_are_absent():
        return False
    warn_at_user(
        "tg.deferred() with another thread of the program alive: the block runs in eager mode, since that thread may "
        "look at tensors at any time. Enter the block before threads are started, or after they have ended.",
        RuntimeWarning,
    )
    return True
