"""State: models, their parts and copies, and functions of all forms."""

import copy

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("State")


def sgd_step(tg, model, optimizer):
    """A training step as everybody writes it."""

    def step(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


@ask.replay(specialisations=3)
def parameter_rebound(tg):
    """Does a parameter of a module that is rebound between calls take effect?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def between(i):
        if i == 2:
            model.weight = tg.nn.Parameter(
                ramp(tg, 1, 3)
            )  # the optimizer still has the old one: the new one accumulates

    return Program(sgd_step(tg, model, optimizer), batches(tg, 4, 3), lambda: list(model.parameters()), between)


@ask.either()
def moving_average_with_a_history(tg):
    """Is the history of a result right, whose weights are written under no_grad within the step?"""
    w, target = weight(tg, 3), weight(tg, 3)

    def step(x):
        with tg.no_grad():
            target.mul_(0.9).add_(w, alpha=0.1)
        return (target * x).pow(2).sum()

    return Program(step, batches(tg, 3), lambda: (w, target), after=lambda i, out: out.backward())


@ask.replay()
def moving_average_of_a_model(tg):
    """Does a target network that follows the model by copy and lerp stay in step?"""
    model, target = tg.nn.Linear(3, 1), tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    train = sgd_step(tg, model, optimizer)

    def step(x):
        loss = train(x)
        with tg.no_grad():
            for p, q in zip(model.parameters(), target.parameters(), strict=True):
                q.mul_(0.9).add_(p, alpha=0.1)
        return loss, target(x).detach()

    return Program(step, batches(tg, 4, 3), lambda: (dict(model.state_dict()), dict(target.state_dict())))


@ask.replay(specialisations=2)
def models_in_train_and_eval(tg):
    """Are running statistics written in training, and only then?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.BatchNorm1d(2), tg.nn.Dropout(0.5))
    return Program(
        lambda x: model(x).detach(),
        batches(tg, 4, 3),
        lambda: dict(model.state_dict()),
        lambda i: model.train(i not in (2, 4)),
        after=lambda i, out: None,
    )


@ask.replay(specialisations=2)
def submodule_swapped(tg):
    """Is a submodule that is swapped for another seen?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Tanh())

    def between(i):
        if i == 2:
            model[1] = tg.nn.ReLU()

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@ask.replay(c_calls=3)  # the first call makes the momentum buffers
def state_dict_loaded(tg):
    """Does load_state_dict between calls reach the compiled step, and its optimizer state?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    saved = {k: v.clone() for k, v in model.state_dict().items()}

    def between(i):
        if i == 3:
            model.load_state_dict(saved)

    return Program(sgd_step(tg, model, optimizer), batches(tg, 4, 3), lambda: list(model.parameters()), between)


@ask.replay(specialisations=2)
def tied_weights(tg):
    """Do tied weights get the sum of their gradients, and is untying seen?"""
    encoder, decoder = tg.nn.Linear(3, 3, bias=False), tg.nn.Linear(3, 3, bias=False)
    decoder.weight = encoder.weight

    def step(x):
        encoder.zero_grad()
        decoder.zero_grad()
        (decoder(encoder(x).tanh()) ** 2).sum().backward()

    def between(i):
        if i == 3:
            decoder.weight = tg.nn.Parameter(encoder.weight.detach().clone())

    return Program(step, batches(tg, 2, 3), lambda: (encoder.weight, decoder.weight), between)


@ask.replay(specialisations=2)
def buffer_registered_again(tg):
    """Is a buffer that is registered again under its name seen?"""
    model = tg.nn.Linear(3, 3)
    model.register_buffer("scale", ramp(tg, 3))

    def between(i):
        if i == 3:
            model.register_buffer("scale", ramp(tg, 3) * 9)

    return Program(lambda x: x * model.scale, batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def model_converted_to_double(tg):
    """Is `model.double()` between calls seen?"""
    model = tg.nn.Linear(3, 2)
    dtypes = [tg.float32, tg.float32, tg.float64, tg.float64, tg.float64]

    def between(i):
        model.to(dtypes[i])

    return Program(lambda x: model(x).detach(), lambda i: (batch(tg, i, 2, 3).to(dtypes[i]),), tuple, between)


@ask.replay()
def deep_copy_goes_its_own_way(tg):
    """Does a deep copy of the model, trained eagerly, leave the compiled one alone?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    copies = []

    def between(i):
        copies.append(copy.deepcopy(model))
        with tg.no_grad():
            for p in copies[-1].parameters():
                p.add_(1.0)

    def state():
        return list(model.parameters()), [list(m.parameters()) for m in copies]

    return Program(sgd_step(tg, model, optimizer), batches(tg, 4, 3), state, between)


@ask.replay(specialisations=2, c_calls=4, calls=6)
def models_trained_in_turn(tg):
    """Does one function that is given two models by turns keep them apart?"""
    models = [tg.nn.Linear(3, 1), tg.nn.Linear(3, 1)]
    optimizers = [tg.optim.SGD(m.parameters(), lr=0.1) for m in models]

    def step(model, optimizer, x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def args(i):
        return models[i % 2], optimizers[i % 2], batch(tg, i, 4, 3)

    return Program(step, args, lambda: [list(m.parameters()) for m in models])


@ask.either(calls=6)
def shared_by_two_compiled_functions_and_eager(tg, compiled):
    """Do two compiled functions and eager code share a model and an optimizer, step by step?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.Tanh(), tg.nn.Linear(2, 1))
    optimizer = tg.optim.Adam(model.parameters(), lr=0.1)
    train = sgd_step(tg, model, optimizer)
    other = compiled(sgd_step(tg, model, optimizer))
    data, seen = ramp(tg, 4, 3), []

    def between(i):
        seen.append((train, other)[i % 2](data))

    return Program(train, batches(tg, 4, 3), lambda: (dict(model.state_dict()), seen), between)


@ask.replay()
def nested_compile(tg, compiled):
    """Is a compiled function that a compiled function calls a part of it?"""
    w = ramp(tg, 3)
    inner = compiled(lambda x: x * w)
    return Program(lambda x: inner(x) + inner(x + 1), batches(tg, 3), lambda: w, lambda i: w.add_(i))


@ask.replay(specialisations=2)
def two_instances_of_one_class(tg, compiled):
    """Are two instances of a class with a compiled method kept apart?"""

    class Counter:
        def __init__(self, start):
            self.total = tg.full((3,), start)

        @compiled
        def add(self, x):
            self.total.add_(x)
            return self.total * 1

    one, other = Counter(1.0), Counter(2.0)
    return Program(
        lambda c, x: c.add(x), lambda i: ((one, other)[i % 2], batch(tg, i, 3)), lambda: (one.total, other.total)
    )


@ask.replay()
def no_source_anywhere(tg):
    """Does a function without source text compile, as in a REPL?"""
    space = {"w": ramp(tg, 3)}
    exec("def step(x):\n    w.mul_(0.5)\n    return (x * w).sum()", space)
    return Program(space["step"], batches(tg, 3), lambda: space["w"])


@ask.replay()
def bound_method_of_a_module(tg):
    """Does a method of a module other than forward compile?"""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = tg.nn.Linear(3, 1)

        def training_step(self, x):
            self.zero_grad()
            self.fc(x).pow(2).mean().backward()
            with tg.no_grad():
                for p in self.parameters():
                    p -= 0.1 * p.grad

    model = Model()
    return Program(model.training_step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.replay(specialisations=2)
def dict_of_tensors(tg):
    """Is a tensor that is replaced in a captured dict seen?"""
    table = {"a": ramp(tg, 3), "b": ramp(tg, 3) * 2}

    def between(i):
        table["a"].add_(1.0)
        if i == 2:
            table["b"] = ramp(tg, 3) * 7

    return Program(lambda x: sum(v * x for v in table.values()), batches(tg, 3), lambda: table, between)


@ask.replay(specialisations=2, c_calls=2)  # the first call gives the object its attribute
def tensor_stored_in_an_attribute(tg):
    """Is a tensor that the step stores in an attribute the one of the latest call?"""

    class Model:
        hidden = tg.zeros(3)

    model = Model()

    def step(x):
        model.hidden = (model.hidden * 0.5 + x).tanh()
        return model.hidden.sum()

    return Program(step, batches(tg, 3), lambda: model.hidden)


@ask.rerecord()
def buffer_rebound_inside(tg):
    """Does a module that rebinds its own buffer in forward carry it on?"""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("running", tg.zeros(3))

        def forward(self, x):
            self.running = self.running * 0.9 + x * 0.1  # here
            return x - self.running

    model = Model()
    return Program(lambda x: model(x), batches(tg, 3), lambda: dict(model.state_dict()))


@pytest.mark.parametrize("question", ask.rows())
def test_models(answer, question):
    answer(question)
