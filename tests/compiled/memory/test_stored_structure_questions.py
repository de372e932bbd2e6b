"""Tuples, lists and dicts of tensors that a step stores outside, and entries of dicts and lists that it replaces."""

import collections

import pytest
from compiled.table import Section
from side_by_side import Program, batch, ramp

ask = Section("Structures stored outside")
FEATURES = {}
State = collections.namedtuple("State", "h c")


def inputs(tg, *shape):
    """The arguments of each call, of one size: what is trained on growing ones shows roundings."""
    return lambda i: (batch(tg, i % 3, *shape),)


def stepping(tg, model):
    """A training step of `model`."""
    optimizer = tg.optim.SGD(model.parameters(), lr=0.001)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def keeping(tg, store, **attributes):
    """A layer that stores something of each call, as ``store(layer, y)`` does, and its step."""

    class Keeping(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = tg.nn.Linear(3, 3)
            for name, value in attributes.items():
                setattr(self, name, value)

        def forward(self, x):
            y = self.linear(x).tanh()
            store(self, y)
            return y

    layer = Keeping()
    return layer, stepping(tg, layer)


def identities(*things):
    """Which of these are the same object, as numbers."""
    return [float(a is b) for i, a in enumerate(things) for b in things[:i]]


@ask.replay(specialisations=2, calls=9)
def a_state_of_two(tg):
    """Is the state of an LSTM, which a model carries as a tuple, that of the latest call?"""

    class Carrying(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = tg.nn.LSTM(3, 4, batch_first=True)
            self.hidden = tg.zeros(1, 2, 4), tg.zeros(1, 2, 4)

        def forward(self, x):
            y, (h, c) = self.cell(x.unsqueeze(1), self.hidden)
            self.hidden = h.detach(), c.detach()
            return y

    model = Carrying()
    return Program(stepping(tg, model), inputs(tg, 2, 3), lambda: [*model.hidden, *model.parameters()])


@ask.either(calls=9)
def a_state_that_comes_first(tg):
    """The same where None is there at first, and after a reset."""

    class Carrying(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = tg.nn.GRU(3, 4, num_layers=2)
            self.hidden = None

        def forward(self, x):
            y, hidden = self.cell(x, None if self.hidden is None else self.hidden[0])
            self.hidden = (hidden.detach(),)
            return y

    model = Carrying()

    def between(i):
        if i == 5:
            model.hidden = None

    return Program(stepping(tg, model), inputs(tg, 2, 3), lambda: [*(model.hidden or ())], between=between)


@ask.either(calls=9)
def nested_and_returned(tg):
    """Is a structure that is returned and stored one object, with its parts?"""

    class Holder:
        state = None

    holder, seen = Holder(), []

    def step(x):
        holder.state = ([x * 2, x + 1], {"x": x.exp(), "n": 3, "name": "a"}, (x, None))
        return holder.state

    def after(i, outcome):
        seen.append(identities(holder.state, outcome, *seen[-1:]) + identities(holder.state[0], outcome[0]))

    def look():
        first, second, third = holder.state
        return [*first, second["x"], third[0], second["n"], len(second), seen]

    return Program(step, inputs(tg, 3), look, after=after)


@ask.replay(specialisations=3, calls=9)
def a_list_made_anew(tg):
    """Does each call make a list of its own, and leave the one of the call before alone?"""
    layer, step = keeping(tg, lambda self, y: setattr(self, "outputs", [y.detach(), y.detach() * 2]), outputs=[])
    kept = []

    def look():
        kept.append(layer.outputs)
        return [*layer.outputs, float(all(one is not kept[-1] for one in kept[:-1])), *kept[0]]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def a_list_filled(tg):
    """Does a list that a call empties and fills hold what it has appended?"""

    def store(self, y):
        self.outputs = []
        for i in range(3):
            self.outputs.append(y * i)

    layer, step = keeping(tg, store, outputs=[])
    return Program(step, inputs(tg, 2, 3), lambda: [*layer.outputs, float(layer.outputs[0].requires_grad)])


@ask.either(calls=9)
def a_dict_of_losses(tg):
    """Is a dict of losses and of what never changes that of the latest call?"""

    def store(self, y):
        self.losses = {"square": y.pow(2).mean(), "mean": y.mean().detach(), "what": "losses", "rows": y.shape[0]}

    layer, step = keeping(tg, store, losses={})

    def look():
        losses = layer.losses
        return [losses["square"], losses["mean"], losses["rows"], float(losses["square"].requires_grad), *losses]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def a_named_tuple(tg):
    """Does what is stored have its class?"""
    layer, step = keeping(tg, lambda self, y: setattr(self, "state", State(y.detach(), y.detach() + 1)), state=None)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.state.h, layer.state.c, type(layer.state).__name__])


@ask.either(calls=9)
def other_containers(tg):
    """Are an ordered dict, a deque, a set of sizes and a dict with defaults what they are?"""

    def store(self, y):
        self.ordered = collections.OrderedDict(b=y.detach(), a=y.detach() * 2)
        self.queue = collections.deque([y.detach()], maxlen=2)
        self.defaults = collections.defaultdict(list, y=[y.detach()])
        self.sizes = (y.shape, y.detach())

    layer, step = keeping(tg, store, ordered={}, queue=None, defaults=None, sizes=None)

    def look():
        kinds = [type(x).__name__ for x in (layer.ordered, layer.queue, layer.defaults, layer.sizes[0])]
        return [*layer.ordered.values(), *layer.queue, layer.queue.maxlen, *layer.defaults["y"], layer.sizes[1], *kinds]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def one_list_in_two_places(tg):
    """Is a list that is stored in two attributes one list?"""

    def store(self, y):
        self.first = self.second = [y.detach()]
        self.third = (self.first, y.detach() * 2)

    layer, step = keeping(tg, store, first=None, second=None, third=None)

    def look():
        return [*layer.first, layer.third[1], *identities(layer.first, layer.second, layer.third[0])]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def a_list_from_outside(tg):
    """Is a list that was there before, or an argument's, this very list?"""
    outside = [tg.zeros(3)]

    class Holder:
        pair = given = None

    holder = Holder()

    def step(x, both):
        holder.pair = (outside, x * 2)
        holder.given = (both, x * 3)
        return both[0] + x

    both = [ramp(tg, 3)]

    def look():
        return [holder.pair[1], *identities(holder.pair[0], outside), *identities(holder.given[0], both)]

    return Program(step, lambda i: (batch(tg, i, 3), both), look)


@ask.either(calls=9)
def what_was_there_among_it(tg):
    """Are an argument, a parameter and a captured tensor in a tuple these very tensors?"""
    table = ramp(tg, 3)

    def store(self, y):
        self.kept = (y.detach(), self.linear.weight, table, self.linear.weight[0])

    layer, step = keeping(tg, store, kept=None)

    def look():
        y, weight, other, row = layer.kept
        return [y, *identities(weight, layer.linear.weight), *identities(other, table), row.detach()]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def views_of_one_tensor(tg):
    """Do parts of one tensor in a structure share its memory?"""

    def store(self, y):
        z = y.detach() * 1.5
        self.parts = [z, z[0], {"column": z[:, 1]}]

    layer, step = keeping(tg, store, parts=None)

    def look():
        whole, row, column = layer.parts[0], layer.parts[1], layer.parts[2]["column"]
        whole.add_(1)
        return [whole, row, column]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=9)
def a_history_in_a_structure(tg):
    """Can what is stored with its history be differentiated outside, once?"""
    layer, step = keeping(tg, lambda self, y: setattr(self, "kept", [y * 2]), kept=None)

    def compute(x):
        return layer(x).sum()

    def look():
        layer.zero_grad()
        layer.kept[0].sum().backward()
        try:
            layer.kept[0].sum().backward()
        except RuntimeError as error:
            return [layer.linear.weight.grad, str(error)[:30]]
        return [layer.linear.weight.grad]

    return Program(compute, inputs(tg, 2, 3), look)


# --------------------------------------------------------------------------------------------------------- entries


@ask.replay(specialisations=2, calls=9)
def an_entry_of_a_dict(tg):
    """Is the entry of a dict that is an attribute that of the latest call?"""
    cache = {"y": tg.zeros(2, 3), "n": 1}
    layer, step = keeping(tg, lambda self, y: self.cache.__setitem__("y", y.detach()), cache=cache)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.cache["y"], layer.cache["n"], len(layer.cache)])


@ask.either(calls=9)
def features_by_a_hook(tg):
    """Does a hook that keeps outputs in a global dict keep those of each call?"""
    FEATURES.clear()
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))

    def keep(name):
        def hook(module, inputs, output):
            FEATURES[name] = output.detach()

        return hook

    for i, layer in enumerate(model):
        layer.register_forward_hook(keep(f"layer{i}"))
    return Program(stepping(tg, model), inputs(tg, 2, 3), lambda: [*FEATURES, *FEATURES.values()])


@ask.either(calls=9)
def entries_of_a_list(tg):
    """Are items of a list that are replaced those of the latest call, and the others left alone?"""
    memory = [tg.zeros(3) for _ in range(4)]

    def step(x):
        memory[1] = (memory[1] + x).tanh()
        memory[-1] = memory[1] * 2
        return memory[0] + memory[3]

    def between(i):
        if i == 6:
            memory[0] = ramp(tg, 3)

    return Program(step, inputs(tg, 3), lambda: memory, between=between)


@ask.either(calls=9)
def an_entry_by_two_names(tg):
    """Is a dict that has two names one dict?"""
    cache = {"x": tg.zeros(3)}
    holder = tg.nn.Module()
    holder.cache = cache

    def step(x):
        holder.cache["x"] = cache["x"] * 0.5 + x
        return cache["x"] + 1

    def between(i):
        if i == 5:
            holder.cache = {"x": ramp(tg, 3)}

    return Program(step, inputs(tg, 3), lambda: [cache["x"], holder.cache["x"]], between=between)


@ask.either(calls=9)
def an_entry_of_an_inner_dict(tg):
    """Is the entry of a dict in a dict that of the latest call?"""
    layer, step = keeping(
        tg, lambda self, y: self.cache["a"].__setitem__("y", y.detach()), cache={"a": {"y": None}, "b": {"y": None}}
    )
    return Program(step, inputs(tg, 2, 3), lambda: [layer.cache["a"]["y"], float(layer.cache["b"]["y"] is None)])


@ask.either(calls=9)
def an_entry_that_is_new_at_times(tg):
    """Does a dict whose entries come and go have those of eager mode, in their order?"""
    cache = {}

    def step(x):
        cache["x"] = x * 2
        cache.setdefault("first", x)
        return x + 1

    def between(i):
        if i in (3, 6):
            cache.pop("x")
        if i == 7:
            cache.clear()

    return Program(step, inputs(tg, 3), lambda: [*cache, *cache.values()], between=between)


@ask.either(calls=9)
def an_entry_and_a_number(tg):
    """Is a counter beside an entry counted at each call?"""
    stats = {"n": 0, "mean": tg.zeros(())}

    def step(x):
        stats["n"] += 1
        stats["mean"] = stats["mean"] + (x.mean() - stats["mean"]) / stats["n"]
        return stats["mean"]

    return Program(step, inputs(tg, 3), lambda: [stats["n"], stats["mean"]])


@ask.either(calls=9)
def an_entry_of_a_dict_of_its_own_class(tg):
    """Is the method of a dict of the program's own called at each call?"""

    class Counting(dict):
        count = 0

        def __setitem__(self, key, value):
            Counting.count += 1
            super().__setitem__(key, value)

    Counting.count, cache = 0, Counting(x=0)

    def step(x):
        cache["x"] = x * 2
        return x + 1

    return Program(step, inputs(tg, 3), lambda: [cache["x"], Counting.count])


# ------------------------------------------------------------------ attributes that programs set again and again


@ask.either(calls=24)
def an_attribute_set_between_calls(tg):
    """Is an attribute of a module that the program sets between calls what the step finds, however often it is set?"""
    holder = tg.nn.Linear(3, 3)
    holder.scale, holder.on = 1.0, False

    def step(x):
        y = holder(x)
        return y * holder.scale if holder.on else y - holder.scale

    def between(i):
        holder.on = i % 5 == 0
        holder.scale = 0.5 if i % 7 == 0 else 2.0

    return Program(step, inputs(tg, 2, 3), between=between)


@ask.either(calls=24)
def a_method_set_between_calls(tg):
    """Is a function that hides a method of a module, again and again, the one that is called?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Tanh())
    inner = model[0]
    forward = inner.forward
    inner.forward = forward

    def step(x):
        return model(x).sum()

    def between(i):
        inner.forward = (lambda x: forward(x) * 2) if i % 3 == 0 else forward

    return Program(step, inputs(tg, 2, 3), between=between)


@ask.either(calls=24)
def a_counter_in_a_layer(tg):
    """Does a layer that counts its calls count them, and another function find the count?"""

    def store(self, y):
        self.calls += 1

    layer, step = keeping(tg, store, calls=0)
    times = tg.compile(lambda x: x * layer.calls)

    def look():
        return [layer.calls, times(tg.ones(2)), *layer.parameters()]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=24)
def what_can_be_called_by_turns(tg):
    """Is an attribute that is a number and a function by turns what the step finds?"""
    holder = tg.nn.Linear(3, 3)
    holder.scale = 1.0

    def step(x):
        scale = holder.scale
        return holder(x) * (scale() if callable(scale) else scale)

    def between(i):
        holder.scale = (lambda: 3.0) if i % 4 == 3 else float(i % 2)

    return Program(step, inputs(tg, 2, 3), between=between)


@pytest.mark.parametrize("question", ask.rows())
def test_stored_structures(answer, question):
    answer(question)
