"""Traps of values: what is returned, asked about tensors, and made of Python numbers; switches of the thread."""

import gc
import weakref

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Traps: values")


def trap(make):
    return ask.either(calls=6)(make)


@trap
def list_that_is_returned(tg):
    """Is a captured list that is returned that list?"""
    held = [1.0, 2.0]

    def step(x):
        return x * held[0], held

    return Program(step, batches(tg, 3), lambda: held, after=lambda i, out: out[1].__setitem__(0, float(i)))


@trap
def new_list_that_is_returned(tg):
    """Is a list that the step makes a new one at each call, which the caller may change?"""

    def after(i, out):
        out[0].append("changed")
        out[1]["k"] = "changed"

    return Program(lambda x: ([x * 2], {"k": x + 1}), batches(tg, 3), after=after)


@trap
def constant_tensor_returned(tg):
    """Is a constant that the step makes, changed by the caller, made anew?"""
    return Program(
        lambda x: (tg.zeros(3), tg.tensor([1.0, 2.0]), x * 1),
        batches(tg, 3),
        after=lambda i, out: [t.add_(7.0) for t in out],
    )


@trap
def result_is_none_sometimes(tg):
    """Is `is None` of an attribute that becomes a tensor asked anew?"""
    world = {"mask": None}

    def between(i):
        world["mask"] = ramp(tg, 3) if i in (3, 4) else None

    return Program(lambda x: x * 2 if world["mask"] is None else x * world["mask"], batches(tg, 3), tuple, between)


@trap
def tensor_as_a_key(tg):
    """Is a dict whose keys are tensors, by identity, looked up by this call's tensor?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2
    table = {a: 2.0, b: 5.0}
    return Program(lambda x: x * table[x], lambda i: ((a, b)[i % 2],))


@trap
def tensor_identity(tg):
    """Is `x is w` asked anew for each argument?"""
    w = ramp(tg, 3)
    return Program(lambda x: x * 2 if x is w else x * 3, lambda i: (w if i in (3, 4) else ramp(tg, 3),))


@trap
def tensor_identity_among_arguments(tg):
    """Is `a is b` asked anew, also for equal views?"""
    x = ramp(tg, 3)

    def args(i):
        return ((x, x), (x, ramp(tg, 3)), (x, x.detach()))[i % 3]

    return Program(lambda a, b: a * 2 if a is b else a * 3, args)


@trap
def attribute_on_a_tensor(tg):
    """Is an attribute of the user's on a tensor or a parameter seen?"""
    w = weight(tg, 3)

    def between(i):
        w.scale = 5.0 if i in (3, 4) else 2.0

    return Program(lambda x: (w * x * w.scale).detach(), batches(tg, 3), tuple, between)


@trap
def attribute_on_an_argument(tg):
    """Is an attribute of the user's on an argument seen?"""

    def args(i):
        x = ramp(tg, 3)
        x.kind = "double" if i in (3, 4) else "single"
        return (x,)

    return Program(lambda x: x * 2 if x.kind == "double" else x * 1, args)


@trap
def history_of_an_argument(tg):
    """Are a leaf and a computed tensor as an argument told apart (is_leaf, grad_fn)?"""
    w = weight(tg, 3)

    def step(x):
        return x.detach() * 2 if x.is_leaf else x.detach() * 3

    return Program(step, lambda i: (w * 1 if i in (3, 4) else w,))


@trap
def version_of_an_argument(tg):
    """Is `_version`, which in-place writes count up, the eager one?"""
    x = ramp(tg, 3)

    def step(x):
        x.add_(1.0)
        return x * 2

    return Program(step, lambda i: (x,), lambda: x._version)


@trap
def flags_by_contiguity(tg):
    """Is `is_contiguous()` of an argument asked anew?"""
    data = ramp(tg, 3, 3)

    def step(x):
        return x * 2 if x.is_contiguous() else x * 3

    return Program(step, lambda i: (data.t() if i in (3, 4) else data,))


@trap
def gradient_none_asked(tg):
    """Is `w.grad is None` asked anew?"""
    w = weight(tg, 3)

    def between(i):
        w.grad = tg.ones(3) if i in (3, 4) else None

    return Program(lambda x: x * 2 if w.grad is None else x * w.grad, batches(tg, 3), tuple, between)


@trap
def default_dtype_switched_inside(tg):
    """Does a default dtype that is switched and restored inside hold for that part?"""

    def step(x):
        tg.set_default_dtype(tg.float64)
        y = tg.ones(3) * 2
        tg.set_default_dtype(tg.float32)
        return y, x + tg.ones(3)

    return Program(step, batches(tg, 3))


@trap
def default_dtype_left_switched(tg):
    """Does a default dtype that the step leaves switched stay switched?"""

    def step(x):
        y = x + tg.ones(3)
        tg.set_default_dtype(tg.float64)
        return y

    return Program(step, batches(tg, 3))


@trap
def grad_mode_left_switched(tg):
    """Does a grad mode that the step leaves switched stay switched?"""
    w = weight(tg, 3)

    def step(x):
        y = w * x
        tg.set_grad_enabled(not tg.is_grad_enabled())
        return y.detach()

    return Program(step, batches(tg, 3))


@trap
def grad_mode_asked(tg):
    """Does is_grad_enabled() inside answer for this call?"""
    return Program(
        lambda x: x * 2 if tg.is_grad_enabled() else x * 3,
        batches(tg, 3),
        tuple,
        lambda i: tg.set_grad_enabled(i not in (3, 4)),
    )


@trap
def decorated_by_no_grad(tg):
    """Is a function under @no_grad whose caller's mode changes right?"""
    w = weight(tg, 3)
    inner = tg.no_grad()(lambda x: w * x)
    return Program(lambda x: inner(x), batches(tg, 3), tuple, lambda i: tg.set_grad_enabled(i not in (3, 4)))


@trap
def weak_reference_to_a_tensor(tg):
    """Is a captured tensor that only a weak reference holds, and that dies, missed?"""
    world = {"w": ramp(tg, 3)}
    reference = weakref.ref(world["w"])

    def between(i):
        if i == 3:
            world["w"] = None

    def step(x):
        w = reference()
        return x if w is None else x * w

    return Program(step, batches(tg, 3), tuple, between)


@trap
def results_die(tg):
    """Do weak references to results and inner tensors die as in eager mode?"""
    references, alive = [], []
    collected = lambda i: gc.collect()  # noqa: E731  what is in cycles may live until then

    def step(x):
        y = x * 2
        return y + 1

    def after(i, out):
        alive.append([r() is None for r in references])
        references.append(weakref.ref(out))

    return Program(step, batches(tg, 3), lambda: alive, collected, after=after)


@trap
def numpy_array_reallocated(tg):
    """Is an array behind from_numpy at each call the array of this call?"""
    world = {"table": np.ones(3, np.float32)}

    def between(i):
        world["table"] = np.full(3, i, np.float32)

    return Program(lambda x: x + tg.from_numpy(world["table"]), batches(tg, 3), tuple, between)


@trap
def tensor_made_of_a_python_list(tg):
    """Is a tensor that is made of a captured list, changed in place, made of this call's numbers?"""
    numbers = [1.0, 2.0, 3.0]
    return Program(lambda x: x * tg.tensor(numbers), batches(tg, 3), tuple, lambda i: numbers.__setitem__(1, float(i)))


@trap
def index_by_a_python_list(tg):
    """Is an index that is a captured list, changed in place, this call's?"""
    order = [0, 1, 2]

    def between(i):
        order[:] = order[1:] + order[:1]

    return Program(lambda x: (x[order], x[:, order]), lambda i: (batch(tg, i, 3, 3),), tuple, between)


@trap
def slice_by_attributes(tg):
    """Is a slice whose bounds are in an object this call's?"""
    bounds = {"lo": 0, "hi": 2}

    def between(i):
        bounds.update(lo=i % 2, hi=2 + i % 3)

    return Program(lambda x: x[bounds["lo"] : bounds["hi"]] * 2, batches(tg, 5), tuple, between)


@pytest.mark.parametrize("question", ask.rows())
def test_traps_values(answer, question):
    answer(question)
