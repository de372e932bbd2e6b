"""Results of one number are handed out again when nobody holds them: nobody can tell, whatever was done to them."""

import linecache
import pickle
import weakref

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.replay import fast_path, last_look
from tracegrad.compiled.replay.last_look import LastLook, Spare


def training(compiled=True):
    w = tg.ones(2, requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    return tg.compile(step) if compiled else step


def detached(compiled=True):
    return tg.compile(lambda x: (x * 2).sum()) if compiled else lambda x: (x * 2).sum()


def facts(tensor):
    """All that can be seen of a result."""
    known = [tensor.item(), tensor._version, tensor.requires_grad, tensor.is_leaf, tensor.label, tensor.steps]
    flags = [tensor._base, tensor._grad, tensor.viewed_without_grad, tensor.view_of_several, tensor.is_of_program]
    hooks = [len(tensor.leaf_hooks), len(tensor.post_accumulate_hooks), len(vars(tensor)), tensor.place]
    node = None if tensor.grad_fn is None else tensor.grad_fn.name()
    return [*known, *flags, *hooks, node, type(tensor), tensor.shape, str(tensor.dtype), tensor.buffer.whole.shape]


KEPT = []


def in_place(r):
    with tg.no_grad():
        r.add_(1)


def in_place_through_an_alias(r):
    r.detach().mul_(3)


def through_numpy(r):
    r.detach().numpy()[...] = 7


def attribute(r):
    r.note = "best"


def attributes_replaced(r):
    r.__dict__ = {"note": 1}


def other_memory(r):
    r.data = tg.ones(3)


def requires(r):
    if r.is_leaf:
        r.requires_grad_()


def retain(r):
    if not r.is_leaf:
        r.retain_grad()


def hook(r):
    if r.requires_grad:
        r.register_hook(lambda g: g)


def detach_in_place(r):
    r.detach_()


def gradient(r):
    if r.is_leaf:
        r.grad = tg.ones(())


def backward_again(r):
    if r.requires_grad:
        with pytest.raises(RuntimeError, match="second time"):
            r.backward()


def look(r):
    repr(r), float(r), r.tolist(), bool(r > 0), hash(r), r.storage_offset() if hasattr(r, "storage_offset") else 0


def other_class(r):
    class Mine(tg.Tensor):
        pass

    r.__class__ = Mine


def through_pickle(r):
    pickle.loads(pickle.dumps(r.detach()))


def another_step(r):
    another(r.detach()), another(r.detach()), another(r.detach())


another = tg.compile(lambda x: x + 1)


def eager_sum(r):
    KEPT.append(r + 1)


def hold(r):
    KEPT.append(r)


def hold_an_alias(r):
    KEPT.append(r.detach())


def hold_a_view(r):
    KEPT.append(r.reshape(1))


def hold_numpy(r):
    KEPT.append(r.detach().numpy())


def hold_the_array(r):
    KEPT.append(r.ndarray)


def hold_the_buffer(r):
    KEPT.append(r.buffer)


def hold_memory(r):
    KEPT.append(memoryview(r.ndarray))


def in_a_cycle(r):
    pair = [r]
    pair.append(pair)


DEEDS = [
    in_place, in_place_through_an_alias, through_numpy, attribute, attributes_replaced, other_memory, requires, retain,
    hook, detach_in_place, gradient, backward_again, look, other_class, through_pickle, another_step, eager_sum, hold,
    hold_an_alias, hold_a_view, hold_numpy, hold_the_array, hold_the_buffer, hold_memory, in_a_cycle,
]  # fmt: skip


def number(kept):
    kept = getattr(kept, "whole", kept)
    return float(np.asarray(kept.detach().ndarray if hasattr(kept, "detach") else kept).reshape(-1)[0])


def done(make, compiled, binds):
    """The facts of each result before what is done to it, and the numbers that are kept, for one deed after another."""
    step = make(compiled)
    for i in range(6):  # until calls are usual
        step(tg.ones(2) * i)
    seen, last = [], None
    for deed in DEEDS:
        KEPT.clear()
        for i in range(8):
            result = step(tg.ones(2) * i)
            seen.append((deed.__name__, facts(result)))
            if i % 2:
                deed(result)
            last = result if binds else None
            del result
            seen.append((deed.__name__, [number(kept) for kept in KEPT]))
        if compiled:
            assert step.way == "replay"
    del last
    return seen


@pytest.mark.parametrize("binds", [False, True], ids=["dropped", "bound until the next"])
@pytest.mark.parametrize("make", [training, detached])
def test_every_result_is_as_new(make, binds, monkeypatch):
    monkeypatch.setattr(last_look, "LONGEST_WAIT", 0)  # what one deed holds does not spare the next one
    for ours, expected in zip(done(make, True, binds), done(make, False, binds), strict=True):
        assert ours == expected


@pytest.fixture
def kept(monkeypatch):
    """The spare results that were made."""
    made, init = [], Spare.__init__

    def counting(self, look, result):
        made.append(1)
        init(self, look, result)

    monkeypatch.setattr(Spare, "__init__", counting)
    return made


@pytest.mark.parametrize("make", [training, detached])
@pytest.mark.parametrize("binds, spares", [(False, 1), (True, 2)])
def test_no_more_are_made_than_a_program_holds_at_once(make, binds, spares, kept):
    step, x = make(), tg.ones(2)
    result, identities = None, set()
    for i in range(60):
        result = step(x)
        if i > 10:
            identities.add(id(result))
        if not binds:
            result = None
    assert len(kept) == spares == len(identities)


def test_a_program_that_holds_all_pays_seldom_for_it(kept):
    step, x = training(), tg.ones(2)
    results = [step(x * i) for i in range(300)]
    assert [r.item() for r in results] == [2.0 * i for i in range(300)]
    assert len(kept) < 40


def test_a_weak_reference_never_shows_another_result():
    """It may live until the call after the next; then what it shows is gone, or is what it was."""
    step = training()
    references = []
    for i in range(40):
        references.append((weakref.ref(step(tg.ones(2) * i)), 2.0 * i))
        living = [(reference(), number) for reference, number in references if reference() is not None]
        assert all(result.item() == number for result, number in living)
        assert all(number >= 2.0 * (i - 2) for _, number in living)
        del living


def test_nothing_is_kept_alive_by_what_was_kept_before():
    """Gradients that are replaced, and their memory, are not looked at any more."""
    w = tg.ones(2, requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    compiled, x = tg.compile(step), tg.ones(2)
    for i in range(16):
        assert compiled(x * i).item() == 2 * i
        if i % 3 == 0:
            gone = weakref.ref(w.grad)
            w.grad = tg.ones(2) if i % 2 else None
            compiled(x), compiled(x), compiled(x)
            assert gone() is None


def test_words_that_are_not_known(monkeypatch):
    """Another interpreter, another layout of objects: everything is looked at one by one."""
    for module in (fast_path, last_look):
        monkeypatch.setattr(module, "memory", None)
    step, x = training(), tg.ones(2)
    for i in range(8):
        assert step(x * i).item() == 2 * i
    assert isinstance(step._usual.__globals__["look"], LastLook) and "look.gradients_free" in step_source(step)


def step_source(step):
    return "".join(linecache.getlines(step._usual.__code__.co_filename))
