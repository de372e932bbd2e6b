"""Steps that are interrupted at a given line or instruction of the package, and what must be true afterwards."""

import gc
import math
import os
import sys
import types
from pathlib import Path

import numpy as np
from traced import is_interrupted

import tracegrad as tg
from tracegrad.nn.recording import _outermost
from tracegrad.ops.core import switch
from tracegrad.ops.locks import all_locks
from tracegrad.tape.grad_mode import switches
from tracegrad.tensors.generator import default_generator
from tracegrad.tracing import watch

ROOT = str(Path(tg.__file__).parent)
OUTSIDE = (f"{ROOT}/tests", f"{ROOT}/examples", f"{ROOT}/benchmarks")
SQRT = math.sqrt


def is_package(code):
    file = code.co_filename
    is_written = file.startswith("<tracegrad: ")
    return is_written or (file.startswith(ROOT) and not file.startswith(OUTSIDE))


class Tracer:
    """Sees the package's events, and may interrupt one."""

    def run(self, call):
        """True if `call` was interrupted."""
        return is_interrupted(call, self)


class Interrupter(Tracer):
    """Counts the package's events ("line" or "opcode") while `call` runs; raises KeyboardInterrupt at number `at`."""

    def __init__(self, kind, at=None, look=None):
        self.kind, self.at, self.look = kind, at, look
        self.count = 0
        self.where = None
        self.seen = {}  # by place: the number of the first and of the last event there
        self.process = os.getpid()

    def __call__(self, frame, event, arg):
        if not is_package(frame.f_code) or os.getpid() != self.process:  # not those that are forked meanwhile
            return None
        if self.kind == "opcode":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._inside

    def _inside(self, frame, event, arg):
        if event == self.kind:
            self.count += 1
            place = frame.f_code, frame.f_lasti if self.kind == "opcode" else frame.f_lineno
            self.seen[place] = self.seen.get(place, (self.count,))[0], self.count
            if self.look is not None:
                self.look()
            if self.count == self.at:
                sys.settrace(None)
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
                raise KeyboardInterrupt
        return self._inside


class Step:
    """A training step with everything that a call may touch: parameters, momentum, random numbers, Python's numbers."""

    looks = False  # at a number in the middle: such calls are re-recorded
    warm = 0  # calls before the one that is interrupted
    way = "replay"

    def __init__(self):
        tg.manual_seed(0)
        self.model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.Dropout(0.5), tg.nn.Linear(3, 1))
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.losses = []
        self.options = {"scale": 2.0}
        self.factor = 0.5
        self.x = tg.tensor([[1.0, -1.0], [0.5, 2.0]])
        self.function = self.make()
        self.step = tg.compile(self.function)

    def make(self):
        model, optimizer, options, losses, looks, factor = (
            self.model, self.optimizer, self.options, self.losses, self.looks, self.factor,
        )  # fmt: skip

        def train(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).sum() * (math.sqrt(options["scale"]) * factor)
            if looks and loss.item() < 0:
                return -loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            return loss

        return train

    def prepare(self):
        """Between the calls before, and the one that is interrupted."""

    def call(self):
        self.step(self.x)

    def leave(self):
        """After the call that is interrupted."""

    def eager_call(self):
        self.function(self.x)

    def tensors(self):
        return [*self.model.parameters(), *(t for s in dict.values(self.optimizer.state) for t in dict.values(s))]

    def state(self):
        """All that a call may change, as plain values."""
        own = default_generator
        tensors = [*self.tensors(), own.state, own.cached]
        values = [t.detach().ndarray.copy() for t in tensors]
        grads = [None if t._grad is None else t._grad.ndarray.copy() for t in self.model.parameters()]
        return [*values, *grads]

    def load(self, other):
        """The state of `other`, of which this is a twin that was called at least as often."""
        self.options.update(other.options)
        for mine, its in zip(self.tensors(), other.tensors(), strict=True):
            mine.detach().ndarray[...] = its.detach().ndarray
        for mine, its in zip(self.model.parameters(), other.model.parameters(), strict=True):
            mine.grad = None if its.grad is None else tg.tensor(its.grad.ndarray.copy())


class Numbers(Step):
    """A recording with stand-ins: the number in a dict has changed."""

    warm = 3

    def prepare(self):
        self.options["scale"] = 3.0


class Replay(Step):
    warm = 5


class General(Replay):
    def call(self):
        self.step(x=self.x)

    def eager_call(self):
        self.function(x=self.x)


class ReRecord(Step):
    looks, way, warm = True, "re-record", 7


class ReRecordEarly(ReRecord):
    warm = 3


class Verify(Step):
    warm = 4

    def call(self):
        self.step.verify(self.x)


class Joined(Step):
    """The model is compiled alone; its backward pass is called from outside."""

    warm = 4

    def make(self):
        self.inner = tg.compile(self.model)
        return self.train(self.model)

    def train(self, model):
        optimizer, losses = self.optimizer, self.losses

        def train(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

        return train

    def __init__(self):
        super().__init__()
        self.step = self.inner
        self.outer = self.train(self.inner)

    def call(self):
        self.outer(self.x)


class WarmUp(Step):
    """Two steps of a program that is eager, of which the second begins to be noted."""

    warm, is_inside = 2, False

    def __init__(self):
        super().__init__()
        self.block = tg.deferred(tiered=True)
        self.budget = self.block.segments.budget
        self.budget._least = math.inf
        self.step = types.SimpleNamespace(way=self.way, explain=self.block.explain)

    def prepare(self):
        self.budget._least = self.budget.work + 1.0
        self.is_inside = bool(self.block.__enter__())

    def call(self):
        if self.is_inside:
            self.eager_call()
            return
        with self.block:
            self.eager_call()

    def leave(self):
        if self.is_inside:
            self.is_inside = self.block.__exit__(None, None, None)

    def eager_call(self):
        for _ in range(2):
            self.function(self.x)


class Rest(WarmUp):
    """A program that is noted, and goes on in eager mode in the middle of a step."""

    def prepare(self):
        self.budget._least = 0.0
        self.is_inside = bool(self.block.__enter__())
        self.block.segments.departures.is_hopeless = True


CASES = {
    "record": Step, "stand-ins": Numbers, "replay": Replay, "replay by keyword": General, "re-record": ReRecord,
    "first re-records": ReRecordEarly, "verify": Verify, "joined": Joined, "warm-up": WarmUp, "rest": Rest,
}  # fmt: skip


def warmed(kind):
    case = kind()
    for _ in range(case.warm):
        Step.call(case) if kind is Verify else case.call()
    case.prepare()
    return case


def eager_states(kind):
    """The states that eager mode goes through in the call that is interrupted; by line, without repetition."""
    case = kind()
    for _ in range(case.warm):
        case.eager_call()
    case.prepare()
    case.leave()
    states = [case.state()]

    def look():
        now = case.state()
        if not same(now, states[-1], 0):
            states.append(now)

    Interrupter("line", look=look).run(case.eager_call)
    look()
    return states


def same(one, other, tolerance):
    """`tolerance` is relative; C sums in another order than numpy."""
    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=True):
        if (a is None) != (b is None):
            return False
        if a is not None and not (np.array_equal(a, b) or (tolerance and np.allclose(a, b, tolerance, tolerance))):
            return False
    return True


def assert_untouched_thread():
    assert switch.stack == ()
    assert switches.enabled and not switches.inference
    assert gc.isenabled() and sys.getprofile() is None
    assert watch._local.watcher is None and watch._local.server is None
    assert _outermost.paths is None
    assert not any(lock._is_owned() for lock in all_locks())


def assert_plain(case):
    """No stand-in is left in the user's objects."""
    assert math.sqrt is SQRT
    assert type(case.options["scale"]) is float and all(type(loss) is float for loss in case.losses)
    for cell in case.function.__closure__:
        assert type(cell.cell_contents).__module__ != "tracegrad.compiled.symbolic.number"


def places(kind, events):
    """The number of events in the call that is interrupted, and the first and the last event of each place."""
    for _ in range(2):  # what is cached in the first makes later ones shorter
        interrupter, case = Interrupter(events), warmed(kind)
        interrupter.run(case.call)
        case.leave()
    return interrupter.count, sorted({at for both in interrupter.seen.values() for at in both})


def interrupted(kind, events, at, states):
    """Interrupt one call at event number `at` and check everything; False if the call has fewer events."""
    case = warmed(kind)
    interrupter = Interrupter(events, at)
    is_interrupted = interrupter.run(case.call)
    case.leave()
    if not is_interrupted:
        return False
    try:
        check(case, kind, states)
    except AssertionError as error:
        error.add_note(f"interrupted in {interrupter.where}, event {at}")
        raise
    return True


def check(case, kind, states):
    assert_untouched_thread()
    assert_plain(case)
    state = case.state()
    # One rounding of a sum in another order moves a number of this size by less than 1e-5 of it.
    known = [number for number, passed in enumerate(states) if is_as(case, state, passed, states)]
    assert known, "a state that eager mode does not go through"
    if isinstance(case, Replay):
        assert known[0] in (0, len(states) - 1), "a part of a step"
    if kind is Verify:
        assert known[0] == 0
    go_on(case, kind)


def is_as(case, state, passed, states):
    """The gradients of a compiled model come one after the other in an order of their own: each is one that eager mode
    has had by itself."""
    if not isinstance(case, Joined):
        return same(state, passed, 1e-5)
    count = len(list(case.model.parameters()))
    gradients = zip(state[-count:], zip(*(each[-count:] for each in states), strict=True), strict=True)
    return same(state[:-count], passed[:-count], 1e-5) and all(
        any(same([now], [had], 1e-5) for had in all_had) for now, all_had in gradients
    )


def go_on(case, kind):
    """Later calls do what they do in eager mode, and are replayed again."""
    twin = kind()
    for _ in range(max(1, case.warm)):
        twin.eager_call()
    if len(twin.tensors()) != len(case.tensors()):  # the first step was interrupted before there was any momentum
        return case.call()
    twin.load(case)
    kept = default_generator.get_state()
    for _ in range(5):
        twin.eager_call()
    default_generator.set_state(kept)
    for _ in range(5):
        Step.call(case) if kind is Verify else case.call()
    assert same(case.state()[-4:], twin.state()[-4:], 1e-4)  # five steps, each with its roundings
    assert case.step.way == case.way, case.step.explain()
    assert_plain(case)
