"""Objects that a program lets go of while its function is re-recorded: finalisers run when they run in eager mode, and
weak references that the function looks at see it, without a collection of garbage. What is refused, or has come to no
end, keeps nothing of the function's surroundings."""

import gc
import weakref

import numpy as np
import pytest

from tracegrad.compiler.errors import CaptureError

CALLS = 9


class Finalised:
    def __init__(self, number, log):
        self.number, self.log = number, log

    def __del__(self):
        self.log.append(f"{self.number} ends")


class Holder:
    kept = None


class Row(list):
    pass


class Table(dict):
    pass


# How the program holds the object: each gives what puts one there, and how the step gets at it.


def in_attribute(tg):
    holder = Holder()
    return lambda value: setattr(holder, "kept", value), lambda: holder.kept


def in_module(tg):
    module = tg.nn.Module()
    module.kept = None
    return lambda value: setattr(module, "kept", value), lambda: module.kept


def in_list(tg):
    row = [None]
    return lambda value: row.__setitem__(0, value), lambda: row[0]


def in_list_of_its_own(tg):
    row = Row([None])
    return lambda value: row.__setitem__(0, value), lambda: row[0]


def in_dict(tg):
    table = {"kept": None}
    return lambda value: table.__setitem__("kept", value), lambda: table["kept"]


def in_dict_of_its_own(tg):
    table = Table(kept=None)
    return lambda value: table.__setitem__("kept", value), lambda: table["kept"]


def in_closure(tg):
    kept = None

    def put(value):
        nonlocal kept
        kept = value

    return put, lambda: kept


def behind_weak_reference(tg):
    holder = Holder()
    holder.reference = lambda: None

    def put(value):
        holder.kept = value
        holder.reference = (lambda: None) if value is None else weakref.ref(value)

    return put, lambda: holder.reference()


def in_weak_table(tg):
    holder, table = Holder(), weakref.WeakValueDictionary()

    def put(value):
        holder.kept = value
        if value is not None:
            table["kept"] = value

    return put, lambda: table.get("kept")


HOLDERS = [
    in_attribute, in_module, in_list, in_list_of_its_own, in_dict, in_dict_of_its_own, in_closure,
    behind_weak_reference, in_weak_table,
]  # fmt: skip

# Why it is re-recorded.


def looks_at_number(tg, get, log):
    def step(x):
        kept = get()
        y = x * (-1.0 if kept is None else kept.number)
        return x if y.sum().item() > 1e9 else y + 1

    return step


def keeps_number(tg, get, log):
    def step(x):
        kept = get()
        y = x * (-1.0 if kept is None else kept.number)
        log.append(float(y.sum()))
        return y

    return step


def asks_weak_reference(tg, get, log):
    def step(x):
        kept = get()
        reference = None if kept is None else weakref.ref(kept)
        del kept
        if x.sum().item() > 1e9:
            return x
        return x * 2 if reference is None else x * reference().number

    return step


def raises_after_number(tg, get, log):
    def step(x):
        kept = get()
        y = x * (-1.0 if kept is None else kept.number)
        if y.sum().item() < 1e9 and kept is not None:
            raise ValueError(kept.number)
        return y

    return step


def makes_its_own(tg, get, log):
    def step(x):
        own, kept = Finalised(float(len(log)), log), get()
        y = x * own.number * (-1.0 if kept is None else kept.number)
        return x if float(y.sum()) > 1e9 else y

    return step


STEPS = [looks_at_number, keeps_number, asks_weak_reference, raises_after_number, makes_its_own]
MOMENTS = [{0: 1.0, 3: None}, {0: 1.0, 1: 2.0, 2: 3.0, 6: None}, {0: 1.0, 4: 2.0}, {0: 1.0, 1: None, 5: 3.0, 7: None}]


def noted(tg, hold, make, when, wrap):
    """What the program sees, the ends of objects among it."""
    log = []
    put, get = hold(tg)
    step = wrap(make(tg, get, log))
    for call in range(CALLS):
        if call in when:
            put(None if when[call] is None else Finalised(when[call], log))
        log.append(f"call {call}")
        try:
            log.append(step(tg.ones(2)).tolist())
        except ValueError as error:
            log.append(str(error))
    put(None)
    log.append("over")
    return log, getattr(step, "way", "")


@pytest.fixture
def no_collections():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("when", MOMENTS, ids=str)
@pytest.mark.parametrize("make", STEPS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("hold", HOLDERS, ids=lambda f: f.__name__)
def test_objects_end_as_in_eager_mode(tg, no_collections, hold, make, when):
    expected, _ = noted(tg, hold, make, when, lambda step: step)
    found, way = noted(tg, hold, make, when, tg.compile)
    assert found == expected
    assert way in ("re-record", "eager"), "of this test are functions that are not replayed"
    with tg.deferred():
        found, _ = noted(tg, hold, make, when, lambda step: step)
    assert found == expected


def refused_at_once(tg, reference):
    return lambda x: x * reference().number


def refused_when_done(tg, reference):
    return lambda x: x * float(x.sum()) * reference().number


def failing(tg, reference):
    held = reference()

    def step(x):
        raise ValueError(held.number)

    return step


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("make", [refused_at_once, refused_when_done, failing], ids=lambda f: f.__name__)
def test_what_no_program_comes_of_keeps_nothing(tg, no_collections, make, fullgraph):
    """Nor does the exception that says so, once it is over."""
    log = []
    held = Finalised(2.0, log)
    step = tg.compile(make(tg, weakref.ref(held)), fullgraph=fullgraph)
    for _ in range(3):
        try:
            np.testing.assert_array_equal(step(tg.ones(1)).numpy(), [2.0])
        except (ValueError, CaptureError):
            pass
    del held
    assert make is failing or log == ["2.0 ends"]
    del step
    assert log == ["2.0 ends"]
