"""Tensors that a step stores in attributes and variables outside: attention weights, hidden states, the last loss."""

import copy
import dataclasses
import types

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Tensors stored outside")
HIDDEN = None


def attending(tg, store, keep=lambda weights: weights):
    """A layer that stores something of each call, in training."""

    class Attention(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.project = tg.nn.Linear(3, 3)
            self.weights = None

        def forward(self, x):
            weights = self.project(x).softmax(-1)
            store(self, keep(weights))
            return weights * x

    model = tg.nn.Sequential(Attention(), tg.nn.Linear(3, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def set_weights(layer, value):
    layer.weights = value


@ask.replay()
def attention_kept(tg):
    """Is the attention that a layer keeps that of the latest call?"""
    model, step = attending(tg, set_weights)
    return Program(step, batches(tg, 4, 3), lambda: [model[0].weights, *model.parameters()])


@ask.replay()
def attention_kept_detached(tg):
    """The same for what is detached."""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())
    return Program(step, batches(tg, 4, 3), lambda: [model[0].weights, *model.parameters()])


@ask.replay()
def kept_twice(tg):
    """Are two attributes that hold one tensor given one?"""

    def store(layer, value):
        layer.weights = layer.also = value

    model, step = attending(tg, store)
    model[0].also = None
    return Program(step, batches(tg, 4, 3), lambda: [model[0].weights, model[0].also])


@ask.replay()
def a_view_and_its_base_kept(tg):
    """Do a tensor and its view that are kept share memory?"""

    def store(layer, value):
        layer.weights, layer.row = value, value[0]

    model, step = attending(tg, store, lambda weights: weights.detach())
    model[0].row = None
    return Program(step, batches(tg, 4, 3), lambda: [model[0].weights, model[0].row])


@ask.replay(specialisations=3)  # None was there, a tensor, another one
def kept_and_returned(tg):
    """Is what is kept the object that is returned?"""
    holder = tg.nn.Module()
    holder.last = None

    def step(x):
        holder.last = x * 2
        return holder.last

    return Program(step, batches(tg, 3), lambda: holder.last)


@ask.either(calls=8)
def kept_from_the_first_call_on(tg):
    """May an attribute come with the first call?"""
    holder = tg.nn.Module()

    def step(x):
        holder.last = x * 2
        return holder.last + 1

    return Program(step, batches(tg, 3), lambda: holder.last)


@ask.replay()
def an_argument_kept(tg):
    """Is an argument that is kept this very object?"""
    holder = tg.nn.Module()
    holder.last = None

    def step(x):
        holder.last = x
        return x * 2

    return Program(step, batches(tg, 3), lambda: holder.last)


@ask.replay()
def a_parameter_kept(tg):
    """Does a plain attribute that is given a leaf hold this very leaf?"""
    holder, leaf = tg.nn.Module(), weight(tg, 3)
    holder.last = None

    def step(x):
        holder.last = leaf
        return (x * leaf).sum().detach()

    return Program(step, batches(tg, 3), lambda: [holder.last, leaf, holder.last is leaf])


@ask.either(calls=8)
def a_view_like_that_of_the_call_before(tg):
    """Is a view of a leaf that takes the place of an equal one a view of that leaf, in all grad modes?"""
    holder, leaf = tg.nn.Module(), weight(tg, 2, 3)
    holder.last = None

    def step(x):
        with tg.no_grad():
            before = 0 if holder.last is None else holder.last.sum()
            holder.last = leaf.view(-1).view(3, 2)
        return x + before

    return Program(step, batches(tg, 3), lambda: [holder.last, holder.last._base is leaf])


@ask.either(calls=8)
def a_view_like_an_argument(tg):
    """Is a view that is returned, and shows what an argument shows, another view of the same leaf?"""
    leaf = weight(tg, 2, 3)

    def step(x):
        with tg.no_grad():
            return leaf.view(-1).view(3, 2), x.sum()

    def given(i):
        with tg.no_grad():
            return (leaf.view(-1).view(3, 2),)

    return Program(step, given, after=lambda i, outcome: outcome[0]._base is leaf and outcome[0].requires_grad)


@ask.replay()
def a_gradient_kept(tg):
    """Is a gradient that is kept the leaf's?"""
    holder, leaf = tg.nn.Module(), weight(tg, 3)
    holder.last = None

    def step(x):
        leaf.grad = None
        (x * leaf).sum().backward()
        holder.last = leaf.grad

    return Program(step, batches(tg, 3), lambda: [holder.last, leaf.grad, holder.last is leaf.grad])


def recurrent(tg, store):
    """A cell whose state is an attribute."""

    class Cell(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = tg.nn.Linear(3, 3)
            self.state = None

        def forward(self, x):
            before = tg.zeros(4, 3) if self.state is None else self.state
            self.state = store((self.mix(x) + before).tanh())
            return self.state

    return Cell()


@ask.replay(specialisations=3, calls=9)  # None was there, a tensor, another one
def a_state_carried(tg):
    """Does a cell that carries its state in an attribute go on from it?"""
    cell = recurrent(tg, lambda state: state.detach())
    return Program(lambda x: cell(x).sum().detach(), batches(tg, 4, 3), lambda: cell.state)


@ask.either(calls=9)
def a_state_set_back(tg):
    """The same where the program sets it back now and then."""
    cell = recurrent(tg, lambda state: state.detach())

    def between(i):
        if i in (3, 6):
            cell.state = None
        if i == 7:
            cell.state = tg.ones(4, 3)

    return Program(lambda x: cell(x).sum().detach(), batches(tg, 4, 3), lambda: cell.state, between)


@ask.either(calls=9)
def a_state_with_its_history(tg):
    """Is a second backward pass through a state that is not detached an error?"""
    cell = recurrent(tg, lambda state: state)

    def step(x):
        loss = cell(x).sum()
        loss.backward()
        return loss.detach()

    return Program(step, batches(tg, 4, 3), lambda: cell.state is None, raises=(RuntimeError,))


@ask.either(calls=9)
def a_state_of_other_sizes(tg):
    """Does a state have the size of its call?"""
    cell = recurrent(tg, lambda state: state)
    sizes = (4, 4, 4, 4, 2, 4, 2, 4, 4)

    def step(x):
        cell.state = (cell.mix(x)).tanh().detach()
        return cell.state.sum()

    return Program(step, lambda i: (batch(tg, i, sizes[i], 3),), lambda: cell.state)


@ask.replay(specialisations=3)
def what_a_model_kept_is_read_after_it(tg):
    """Is a penalty that a layer keeps, and the step adds, that of this call?"""
    model, _ = attending(tg, set_weights, lambda weights: weights.pow(2).sum())
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean() + 0.1 * model[0].weights
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Program(step, batches(tg, 4, 3), lambda: [model[0].weights, *model.parameters()])


@ask.either(calls=9)
def another_function_reads_it(tg):
    """Does another compiled function see what a replay has stored?"""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())
    read = tg.compile(lambda: model[0].weights * 1 if model[0].weights is not None else tg.zeros(1))
    return Program(step, batches(tg, 4, 3), lambda: read())


@ask.either(calls=12)
def another_function_stores_it_too(tg):
    """Do two functions that store in one place take turns?"""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())
    other = tg.compile(lambda x: model(x).sum().detach())

    def between(i):
        if i % 3 == 2:
            other(batch(tg, i, 2, 3))

    return Program(step, batches(tg, 4, 3), lambda: model[0].weights, between)


@ask.either(calls=9)
def set_to_something_else_between(tg):
    """Is what the program puts there between two calls replaced?"""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())

    def between(i):
        if i in (3, 5):
            model[0].weights = ["nothing", None, 3.0][i % 3]
        if i == 6:
            del model[0].weights

    return Program(step, batches(tg, 4, 3), lambda: model[0].weights, between)


@ask.either(calls=9)
def set_past_the_methods(tg):
    """The same where it is put there by ``object.__setattr__`` and in the ``__dict__``."""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())

    def between(i):
        if i == 3:
            object.__setattr__(model[0], "weights", 1)
        if i == 5:
            model[0].__dict__["weights"] = 2
        if i == 7:
            object.__setattr__(model[0], "project", tg.nn.Linear(3, 3))

    return Program(step, batches(tg, 4, 3), lambda: model[0].weights, between)


@ask.replay(specialisations=3)
def stored_in_a_plain_object(tg):
    """Is a tensor that is an attribute of a program's own object that of the latest call?"""

    class Holder:
        def __init__(self):
            self.last = None

    holder = Holder()

    def step(x):
        holder.last = x * 2
        return holder.last + 1

    return Program(step, batches(tg, 3), lambda: holder.last)


@ask.rerecord()
def read_by_the_library_alone(tg):
    """Is a tensor that takes a parameter's place, and that no code of the program reads, that of the call before?"""
    layer = tg.nn.Linear(3, 3, bias=False)
    del layer.weight
    layer.weight = ramp(tg, 3, 3)

    def step(x):
        y = layer(x)
        layer.weight = (y.t() @ x).tanh()  # here
        return y.sum()

    return Program(step, batches(tg, 4, 3), lambda: layer.weight)


@ask.either()
def stored_in_a_namespace(tg):
    """The same for a namespace, in a loop."""
    holder = types.SimpleNamespace(last=None)

    def step(x):
        for factor in (2, 3):
            holder.last = x * factor
        return holder.last + 1

    return Program(step, batches(tg, 3), lambda: holder.last)


@ask.either()
def stored_in_a_dataclass(tg):
    """The same for a dataclass, and one with slots."""

    @dataclasses.dataclass
    class State:
        last: object = None

    @dataclasses.dataclass(slots=True)
    class Slotted:
        last: object = None

    state, slotted = State(), Slotted()

    def step(x):
        state.last, slotted.last = x * 2, x * 3
        return x + 1

    return Program(step, batches(tg, 3), lambda: [state.last, slotted.last])


@ask.either()
def stored_by_a_setattr_of_its_own(tg):
    """Is a ``__setattr__`` of the program's called at each call?"""
    seen = []

    class Holder:
        last = None

        def __setattr__(self, name, value):
            seen.append(name)
            object.__setattr__(self, name, value)

    class Layer(tg.nn.Module):
        def __setattr__(self, name, value):
            seen.append(name)
            super().__setattr__(name, value)

    holder, layer = Holder(), Layer()
    layer.last = None

    def step(x):
        holder.last, layer.last = x * 2, x * 3
        return x + 1

    return Program(step, batches(tg, 3), lambda: [holder.last, layer.last, list(seen)])


@ask.either()
def stored_by_a_property(tg):
    """Is the setter of a property called at each call?"""
    seen = []

    class Layer(tg.nn.Module):
        @property
        def last(self):
            return self.__dict__.get("last")

        @last.setter
        def last(self, value):
            seen.append(1)
            self.__dict__["last"] = value

    layer = Layer()
    layer.last = None

    def step(x):
        layer.last = x * 3
        return x + 1

    return Program(step, batches(tg, 3), lambda: [layer.last, len(seen)])


@ask.either()
def stored_as_a_buffer(tg):
    """Is a buffer that is bound to a new tensor that of the latest call?"""
    layer = tg.nn.Module()
    layer.register_buffer("last", tg.zeros(3))

    def step(x):
        layer.last = x * 3 + layer.last
        return x + 1

    return Program(step, batches(tg, 3), lambda: [layer.last, *layer.state_dict().values()])


@ask.replay(specialisations=2, calls=8)
def stored_in_a_variable(tg):
    """Is a variable of an enclosing function that of the latest call?"""
    hidden = tg.zeros(3)

    def step(x):
        nonlocal hidden
        hidden = (hidden + x).tanh()
        return hidden * 2

    return Program(step, batches(tg, 3), lambda: hidden)


@ask.replay(specialisations=2, calls=8)
def stored_in_a_global(tg):
    """The same for a global variable."""
    global HIDDEN
    HIDDEN = tg.zeros(3)

    def step(x):
        global HIDDEN
        HIDDEN = (HIDDEN + x).tanh()
        return HIDDEN * 2

    return Program(step, batches(tg, 3), lambda: HIDDEN)


@ask.replay(specialisations=3)
def stored_and_written_again(tg):
    """Is what is kept as it was at the end of the call?"""
    layer = tg.nn.Module()
    layer.last = None

    def step(x):
        layer.last = x * 3
        layer.last.add_(1)
        layer.last = layer.last + 1
        return x + 1

    return Program(step, batches(tg, 3), lambda: layer.last)


@ask.either(calls=9)
def stored_where_a_copy_reads_it(tg):
    """Does a copy of a model have what the latest call has stored?"""
    layer = tg.nn.Linear(3, 3)
    layer.last = tg.zeros(3)

    def step(x):
        other = copy.deepcopy(layer)
        layer.last = x.detach() * 3
        return other.last + other(x).detach()

    return Program(step, batches(tg, 3), lambda: layer.last)


@ask.either(calls=9)
def stored_where_getattr_reads_it(tg):
    """Does a name that the step computes find what the latest call has stored?"""
    layer, names = tg.nn.Module(), ["la", "st"]
    layer.last = tg.zeros(3)

    def step(x):
        before = getattr(layer, "".join(names))
        layer.last = x * 3
        return before + x

    return Program(step, batches(tg, 3), lambda: layer.last)


@ask.either(calls=9)
def stored_only_now_and_then(tg):
    """Is what is there left alone where a call stores nothing?"""
    layer = tg.nn.Module()
    layer.last = None

    def step(x, store):
        if store:
            layer.last = x * 3
        return x + 1

    return Program(step, lambda i: (batch(tg, i, 3), i % 3 == 0), lambda: layer.last)


@ask.either(calls=9)
def none_stored_now_and_then(tg):
    """Is None put there where a call puts it there?"""
    layer = tg.nn.Module()
    layer.last = None

    def step(x, store):
        layer.last = x * 3 if store else None
        return x + 1

    return Program(step, lambda i: (batch(tg, i, 3), i % 3 == 0), lambda: layer.last)


@ask.replay()
def the_latest_of_one_layer_called_twice(tg):
    """Does a layer that is called twice keep what the second call has made?"""
    model, _ = attending(tg, set_weights)

    def step(x):
        return model[0](model[0](x)).sum().detach()

    return Program(step, batches(tg, 4, 3), lambda: model[0].weights)


@ask.either(calls=8)
def tracked_and_used_outside(tg):
    """Can what a compiled model keeps be differentiated outside?"""
    model, _ = attending(tg, set_weights)

    def after(i, outcome):
        model.zero_grad()
        (outcome.sum() + model[0].weights.pow(2).sum()).backward()

    state = lambda: [model[0].weights.detach(), *model.parameters()]  # noqa: E731
    return Program(lambda x: model(x), batches(tg, 4, 3), state, after=after)


@ask.either(calls=8)
def written_in_place_outside(tg):
    """Is what the program writes to it outside its own business?"""
    model, step = attending(tg, set_weights, lambda weights: weights.detach())

    def after(i, outcome):
        model[0].weights.mul_(2)

    return Program(step, batches(tg, 4, 3), lambda: model[0].weights, after=after)


@pytest.mark.parametrize("question", ask.rows())
def test_stored_tensors(answer, question):
    answer(question)
