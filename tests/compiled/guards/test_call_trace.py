"""What a recording hears of the calls that a function makes: all of the program's own, wherever in the library they
come from, at next to no cost for the library's."""

import bisect
import contextlib
import cProfile
import functools
import heapq
import sys
import time
import weakref
from collections import Counter

import pytest

import tracegrad as tg
from tracegrad.compiled.recording import quiet_code
from tracegrad.compiled.recording.recording import Recording
from tracegrad.compiled.recording.validity import CallTrace


def tell(*_):
    """What each program below lets the library call: a recording that hears of it is not repeated."""
    time.perf_counter()


def telling(item):
    tell()
    return item


class Telling:
    """Tells whatever is asked of it."""

    def __eq__(self, other):
        tell()
        return self is other

    def __hash__(self):
        tell()
        return 1

    def __lt__(self, other):
        tell()
        return False

    def __bool__(self):
        tell()
        return True

    def __len__(self):
        tell()
        return 2

    def __iter__(self):
        tell()
        return iter([2, 1])

    def __index__(self):
        tell()
        return 1

    def __float__(self):
        tell()
        return 2.0

    def __enter__(self):
        tell()

    def __exit__(self, *_):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        tell()
        return 1.0

    @property
    def value(self):
        tell()
        return 1.0


class Dying:
    def __del__(self):
        tell()


class Function(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        tell()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class FunctionBackward(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        tell()
        return g * 2


class Overriding:
    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        tell()
        return 1.0


class Subclass(tg.Tensor):
    def relu(self):
        tell()
        return self * 2


class Module(tg.nn.Module):
    def forward(self, x):
        tell()
        return x * 2


class Decay(tg.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})

    def step(self, closure=None):
        tell()


def leaf():
    return tg.ones(3, requires_grad=True)


def backward_with(register):
    """A step whose leaf has a hook on the way back."""

    def step(x):
        w = leaf()
        y = w * x
        register(w, y)
        y.sum().backward()
        return w.grad

    return step


MODULE = tg.nn.Linear(3, 3)
PRE, POST, BACK = tg.nn.Linear(3, 3), tg.nn.Linear(3, 3), tg.nn.Linear(3, 3)
PRE.register_forward_pre_hook(tell)
POST.register_forward_hook(tell)
BACK.register_full_backward_hook(tell)
SEQUENTIAL = tg.nn.Sequential(tg.nn.Linear(3, 3), Module())
PARAMETER = tg.ones(3, requires_grad=True)
OPTIMIZER = Decay([PARAMETER])
SGD = tg.optim.SGD([PARAMETER], lr=0.5)
KEYS = [Telling(), Telling()]


def finalised(x):
    kept = tg.ones(2)
    weakref.finalize(kept, tell)
    del kept
    return x * 2


def dropped_in_a_list(x):
    held = [Dying()]
    held.clear()
    return x * 2


def dropped_by_the_library(x):
    y = x * 2
    y.owner = Dying()  # goes with the tensor
    y = y * 2
    return y


def entered(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Telling())
        return x * 2


def with_closure(x):
    def closure():
        tell()
        loss = (PARAMETER * x).sum()
        loss.backward()
        return loss

    SGD.zero_grad()
    return SGD.step(closure)


WAYS = {
    "the function itself": lambda x: (tell(), x * 2)[1],
    "a hook of a tensor": backward_with(lambda w, y: y.register_hook(tell)),
    "a hook of a leaf": backward_with(lambda w, y: w.register_hook(tell)),
    "a hook of an accumulated leaf": backward_with(lambda w, y: w.register_post_accumulate_grad_hook(tell)),
    "a hook of a node": backward_with(lambda w, y: y.grad_fn.register_hook(tell)),
    "a prehook of a node": backward_with(lambda w, y: y.grad_fn.register_prehook(tell)),
    "a hook in Python's C": backward_with(lambda w, y: y.register_hook(functools.partial(tell))),
    "Function.forward": Function.apply,
    "Function.backward": lambda x: FunctionBackward.apply(leaf() * x).sum().backward(),
    "__torch_function__": lambda x: x * tg.add(Overriding(), 1),
    "a method of a subclass": lambda x: tg.nn.functional.relu(x.as_subclass(Subclass).relu()),
    "a module's forward": lambda x: Module()(x),
    "a module in a module": lambda x: SEQUENTIAL(x),
    "a forward pre-hook": lambda x: PRE(x),
    "a forward hook": lambda x: POST(x),
    "a backward hook": lambda x: BACK(x * leaf()).sum().backward(),
    "an optimizer's step": lambda x: (OPTIMIZER.step(), x * 2)[1],
    "an optimizer's closure": with_closure,
    "tg.cond": lambda x: tg.cond(x.sum() > 0, lambda x: (tell(), x)[1], lambda x: x * 2, [x]),
    "Module.apply": lambda x: (MODULE.apply(tell), x * 2)[1],
    "vjp": lambda x: tg.autograd.functional.vjp(lambda x: (tell(), x * 2)[1], x, tg.ones(3))[1],
    "a property": lambda x: x * Telling().value,
    "__getattr__": lambda x: x * getattr(Telling(), "missing"),  # noqa: B009
    "__index__": lambda x: x[Telling()],
    "__index__ of a size": lambda x: tg.ones(Telling()) * x,
    "__float__": lambda x: tg.full((3,), float(Telling())) * x,
    "__bool__": lambda x: x.sum(0, keepdim=bool(Telling())),
    "__len__": lambda x: x * len(Telling()),
    "__iter__": lambda x: x * tg.tensor([*Telling(), 3.0]),
    "__eq__ in a list": lambda x: x * float([*KEYS].index(KEYS[1])),
    "__hash__ in a dict": lambda x: x * float({Telling(): 2.0}.popitem()[1]),
    "__lt__ in sorted": lambda x: (sorted(KEYS), x * 2)[1],
    "a key of sorted": lambda x: x * float(sorted([2, 1], key=telling)[0]),
    "a key of max": lambda x: x * float(max([2, 1], key=telling)),
    "map": lambda x: x * float(sum(map(telling, [2, 1]))),
    "functools.reduce": lambda x: x * functools.reduce(lambda a, b: (tell(), a)[1], [2.0, 1.0]),
    "bisect": lambda x: x * float(bisect.bisect([1, 2], 1, key=telling)),
    "heapq": lambda x: x * float(heapq.nlargest(1, [1, 2], key=telling)[0]),
    "a with block": entered,
    "a generator": lambda x: x * float(sum(i for i in Telling())),
    "a finaliser": finalised,
    "__del__": dropped_in_a_list,
    "__del__ in the library": dropped_by_the_library,
}


@pytest.fixture
def traces(monkeypatch):
    """The traces of all recordings that are made."""
    made, init = [], CallTrace.__init__

    def noting(self, *args):
        init(self, *args)
        made.append(self)

    monkeypatch.setattr(CallTrace, "__init__", noting)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_what_the_library_calls_of_the_program_is_heard(traces, way):
    call = WAYS[way]

    def step(x):
        for _ in range(2):  # the second time, the verdicts over the library's code are known
            result = call(x)
        return result

    with contextlib.suppress(Exception):  # what a program may not do is said elsewhere
        tg.compile(step)(tg.ones(3))
    heard = [trace.refused[0] for trace in traces if trace.refused is not None]
    assert heard
    assert all("a clock" in what for what in heard), heard


def test_each_way_is_taken():
    """Without a recording: the functions above do call `tell`."""
    silent = [way for way, step in WAYS.items() if not told_in(step)]
    assert silent == []


def told_in(step):
    called = []

    def listen(frame, event, _):
        if event == "call" and frame.f_code is tell.__code__:
            called.append(frame.f_back)

    sys.setprofile(listen)
    try:
        with contextlib.suppress(Exception):
            step(tg.ones(3))
    finally:
        sys.setprofile(None)
    return bool(called)


# --------------------------------------------------------------------------------------------------------- its cost


def events_of(monkeypatch, step, *args):
    """The events that the trace of one recording looks at, how many there are, and the calls in the checks after it."""
    looked_at, all_of_them = Counter(), Counter()
    note, check, checks = CallTrace._note, Recording._check, cProfile.Profile()

    def looking(self, frame, event, called):
        looked_at[event, frame.f_globals.get("__name__")] += 1
        note(self, frame, event, called)

    def listen_with(note):
        listen = quiet_code.listener(note)

        def count(frame, event, called):
            all_of_them[event] += 1
            listen(frame, event, called)

        sys.setprofile(count)

    with monkeypatch.context() as patch:
        patch.setattr(CallTrace, "_note", looking)
        patch.setattr("tracegrad.compiled.recording.validity.listen_with", listen_with)
        patch.setattr(Recording, "_check", lambda recording: checks.runcall(check, recording))
        tg.compile(step)(*args)
    return looked_at, sum(all_of_them.values()), sum(entry.callcount for entry in checks.getstats())


def test_the_library_s_own_calls_are_not_looked_at(monkeypatch):
    def step(count, x):
        for _ in range(count):
            x = (x * 1.5 + x).tanh().reshape(-1).sum() * x
        return x

    few, many = (events_of(monkeypatch, functools.partial(step, count), tg.ones(3)) for count in (10, 110))
    ops = 6 * 100
    assert sum(many[0].values()) - sum(few[0].values()) <= ops / 10, many[0] - few[0]
    assert many[1] - few[1] >= ops  # the listener was there


def training_step(depth):
    layers = (tg.nn.Sequential(tg.nn.LayerNorm(3), tg.nn.Linear(3, 3), tg.nn.ReLU()) for _ in range(depth))
    model = tg.nn.Sequential(*layers)
    optimizer = tg.optim.Adam(model.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


LAYERS = 10


@pytest.fixture(scope="module")
def few_layers():
    return events_of(pytest.MonkeyPatch(), training_step(5), tg.ones(2, 3))


@pytest.fixture(scope="module")
def many_layers():
    return events_of(pytest.MonkeyPatch(), training_step(5 + LAYERS), tg.ones(2, 3))


def test_a_training_step_is_looked_at_where_the_program_is(few_layers, many_layers):
    (few, _, _), (many, _, _) = few_layers, many_layers
    # Python's own library (`weakref`, named tuples), some forty times a parameter; nothing an op.
    assert sum(many.values()) - sum(few.values()) <= 4 * 100 * LAYERS, many - few


def test_the_work_for_a_layer_does_not_grow_with_their_number(few_layers, many_layers):
    """All calls, of the library's functions and Python's: while the function runs, and in what is checked after it."""
    (_, few, few_checks), (_, many, many_checks) = few_layers, many_layers
    assert many >= 1000 * (5 + LAYERS)
    assert many / (5 + LAYERS) <= 1.05 * few / 5
    assert many_checks / (5 + LAYERS) <= 1.05 * few_checks / 5
