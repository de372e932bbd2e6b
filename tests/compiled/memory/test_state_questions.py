"""State: memory that a step reads and writes, who else sees it, and what tensors are bound to."""

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("State")


GLOBAL = None


def calls_change(tensor):
    return lambda: tensor


def calls_add(tensor):
    return lambda i: tensor.add_(i)


@ask.replay(specialisations=2)
def global_tensor_rebound(tg):
    """Does a global tensor that is rebound between calls take effect?"""

    def between(i):
        global GLOBAL
        if i in (0, 3):
            GLOBAL = ramp(tg, 3) + i

    return Program(lambda x: x * GLOBAL, batches(tg, 3), lambda: GLOBAL, between)


@ask.replay()
def changed_in_place_from_outside(tg):
    """Is an in-place change of a captured tensor from outside seen?"""
    w = ramp(tg, 3)
    return Program(lambda x: x * w, batches(tg, 3), lambda: w, lambda i: w.mul_(i + 1))


@ask.replay()
def data_rebound_from_outside(tg):
    """Is `w.data = other` from outside seen, when the shape stays?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    def between(i):
        w.data = ramp(tg, 3) + i

    return Program(step, batches(tg, 3), lambda: w, between)


@ask.replay(specialisations=2)
def data_of_another_shape(tg):
    """Is `w.data = other` seen, when the shape changes?"""
    w = ramp(tg, 3)

    def between(i):
        w.data = ramp(tg, 3 if i < 2 else 1) + i

    return Program(lambda x: x * w, batches(tg, 3), lambda: w, between)


@ask.replay()
def whole_written_view_captured(tg):
    """Does a captured view show what is written to its whole from outside?"""
    whole = ramp(tg, 4, 3)
    row = whole[1]
    return Program(lambda x: x * row, batches(tg, 3), lambda: (whole, row), lambda i: whole.add_(i))


@ask.replay()
def view_written_whole_captured(tg):
    """Does a captured whole show what is written through a view from outside?"""
    whole = ramp(tg, 4, 3)
    column = whole[:, 1]
    return Program(lambda x: x @ whole.t(), batches(tg, 2, 3), lambda: whole, lambda i: column.fill_(i))


@ask.rerecord()
def whole_and_view_written_inside(tg):
    """Are writes through a whole and its overlapping views done in program order?"""
    whole = ramp(tg, 6)
    head, middle = whole[:4], whole[2:5]

    def step(x):
        head.add_(x)  # here
        middle.mul_(2.0)  # here
        whole[3] = head[2] + middle[0]
        return whole * 1

    return Program(step, batches(tg, 4), lambda: (whole, head, middle))


@ask.replay()
def view_of_view_of_view(tg):
    """Does a write through a view of a view of a transposed view arrive?"""
    w = ramp(tg, 4, 3, 2)

    def step(x):
        w.transpose(0, 2)[1][:, 1:3].t()[0].copy_(x)
        return w.sum()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def written_through_detach(tg):
    """Does a write through detach() change the parameter, without a history?"""
    w = weight(tg, 3)

    def step(x):
        w.detach()[1:].mul_(0.5)
        return (w * x).detach()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def written_through_data(tg):
    """Does `w.data.sub_` inside change the parameter?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()
        w.data.sub_(w.grad.data, alpha=0.1)

    return Program(step, batches(tg, 3), lambda: w)


@ask.either()
def alias_captured_twice(tg):
    """Do two captured tensors over one memory stay one memory, when one is written?"""
    w = weight(tg, 3)
    alias = w.detach()

    def step(x):
        alias.add_(x)
        return w * 2, alias * 3

    return Program(step, batches(tg, 3), lambda: (w, alias))


@ask.replay(specialisations=2)
def same_tensor_as_both_arguments(tg):
    """Is one tensor passed twice one tensor, and two tensors two?"""

    def step(a, b):
        a.add_(1.0)
        return a * b

    def args(i):
        x = batch(tg, i, 3)
        return (x, x) if i % 2 else (x, batch(tg, i, 3))

    return Program(step, args)


@ask.rerecord()
def arguments_that_overlap(tg):
    """Does a write to one argument show in another that overlaps it?"""

    def step(a, b):
        a.mul_(2.0)  # here
        return a + b

    def args(i):
        memory = batch(tg, i, 8)
        return (memory[:4], memory[2:6]) if i > 2 else (memory[:4], memory[4:])

    return Program(step, args)


@ask.replay()
def argument_returned(tg):
    """Does an argument that is returned keep its identity?"""
    return Program(lambda x: (x, x.add_(1.0), x * 2), batches(tg, 3))


@ask.replay()
def parameter_returned(tg):
    """Does a captured parameter that is returned keep its identity?"""
    w = weight(tg, 3)

    def step(x):
        with tg.no_grad():
            w.add_(x)
        return w, w.detach(), w[1:]

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def result_changed_by_the_caller(tg):
    """May the caller change a result without changing what later calls compute?"""
    w, results = ramp(tg, 3), []

    def after(i, outcome):
        outcome.zero_()
        results.append(outcome)

    return Program(lambda x: x * w + 1, batches(tg, 3), lambda: (w, results), after=after)


@ask.replay()
def results_of_earlier_calls(tg):
    """Do results that the caller keeps stay what they were?"""
    kept = []
    return Program(lambda x: (x * 2, x.sum()), batches(tg, 3), lambda: kept, after=lambda i, out: kept.append(out))


@ask.replay()
def result_is_the_next_argument(tg):
    """May a result be passed in again as the state of the next call?"""
    state = [ramp(tg, 3)]

    def after(i, outcome):
        state[0] = outcome

    return Program(lambda h, x: (h * 0.5 + x).tanh(), lambda i: (state[0], batch(tg, i, 3)), lambda: state, after=after)


@ask.rerecord(calls=6)
def argument_is_a_view_of_the_parameter(tg):
    """Does a write to a parameter show in an argument that is a view of it?"""
    w = ramp(tg, 4)

    def step(x):
        w.mul_(2.0)  # here
        return x + 1

    return Program(step, lambda i: (w[1:3] if i > 2 else ramp(tg, 2) * i,), lambda: w)


@ask.replay(specialisations=3)
def argument_kinds_mixed(tg):
    """Are contiguous, transposed and expanded arguments told apart?"""
    data = ramp(tg, 3, 3)
    kinds = (lambda: data.clone(), lambda: data.t(), lambda: data[0].expand(3, 3))
    return Program(lambda x: (x @ x, x.sum(1)), lambda i: (kinds[i % 3](),), calls_change(data), calls_add(data))


@ask.replay()
def zero_dimensional_state(tg):
    """Is a 0-d tensor that the step counts up with in-place writes state, not a constant?"""
    count = tg.zeros(())

    def step(x):
        count.add_(1)
        return x / count

    return Program(step, batches(tg, 3), lambda: count, lambda i: count.zero_() if i == 3 else None)


@ask.replay()
def contents_swapped(tg):
    """Do two tensors that exchange their contents have each other's?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 5

    def step(x):
        kept = a.clone()
        a.copy_(b)
        b.copy_(kept + x)

    return Program(step, batches(tg, 3), lambda: (a, b))


@ask.replay()
def rolling_buffer(tg):
    """Does a buffer that shifts over itself shift the old values?"""
    memory = ramp(tg, 5)

    def step(x):
        memory[1:] = memory[:-1].clone()
        memory[0] = x.sum()
        return memory.mean()

    return Program(step, batches(tg, 3), lambda: memory)


@ask.replay()
def shifted_without_clone(tg):
    """Does a shift that reads and writes overlapping memory do what eager mode does?"""
    memory = ramp(tg, 5)

    def step(x):
        memory[:-1] += memory[1:] * x
        return memory.sum()

    return Program(step, lambda i: (tg.tensor(float(i)),), lambda: memory)


@ask.replay(calls=4)
def numpy_array_behind_a_tensor(tg):
    """Is a change of the numpy array behind a captured tensor seen, and a write to the tensor in the array?"""
    array = np.arange(3, dtype=np.float32)
    w = tg.from_numpy(array)

    def between(i):
        array[:] += i

    def step(x):
        w.mul_(2.0)
        return w + x

    return Program(step, batches(tg, 3), lambda: (w, array), between)


@ask.replay(calls=4)
def numpy_array_behind_an_argument(tg):
    """Is the array behind an argument written, when the step writes to the argument?"""
    arrays = [np.full(3, float(i), np.float32) for i in range(4)]
    return Program(lambda x: x.add_(1.0).sum(), lambda i: (tg.from_numpy(arrays[i]),), lambda: arrays)


@ask.replay(specialisations=2)
def index_as_a_tensor(tg):
    """Is a row that is chosen by a tensor's value chosen anew at each call?"""
    table = ramp(tg, 5, 2)

    def step(index, x):
        table[index] += x
        return table[index]

    return Program(step, lambda i: (tg.tensor([i % 5, 4 - i % 3][: 1 + (i > 2)]), ramp(tg, 2)), lambda: table)


@ask.either()
def version_error_inside(tg):
    """Does a saved tensor that is modified before backward() raise at each call, with the eager state?"""
    w = weight(tg, 3)

    def step(x):
        y = (w * x).exp()
        y.mul_(2.0)
        y.sum().backward()

    return Program(step, batches(tg, 3), lambda: w, raises=(RuntimeError,))


@ask.rerecord()
def data_rebound_inside(tg):
    """Does `w.data = other` inside rebind at each call?"""
    w = weight(tg, 3)

    def step(x):
        w.data = w.data + x  # here
        return (w * 2).detach()

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def strided_argument_written(tg):
    """Does an in-place write to an argument that is not contiguous arrive?"""

    def step(x):
        x.mul_(2.0)
        return x.sum()

    def args(i):
        return (batch(tg, i, 3, 2).t(),)

    return Program(step, args)


@ask.rerecord()
def two_tensors_over_one_array(tg):
    """Does a write to one of two tensors over one numpy array show in the other?"""
    array = np.arange(8, dtype=np.float32)
    y = tg.from_numpy(array[2:6])

    def step(x):
        x.add_(1.0)
        return x * y

    return Program(step, lambda i: (tg.from_numpy(array[:4]),), lambda: (array, y))


@ask.rerecord()
def requires_grad_switched_inside(tg):
    """Does requires_grad_ that stays switched take effect at each call?"""
    w = weight(tg, 3)

    def step(x):
        y = (w * x).sum()
        w.requires_grad_(not w.requires_grad)
        return y.detach()

    return Program(step, batches(tg, 3), lambda: w)


@pytest.mark.parametrize("question", ask.rows())
def test_state(answer, question):
    answer(question)
