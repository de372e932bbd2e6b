"""Writes that go round the methods of counting containers: into ``__dict__`` of modules and optimizers, registries,
tables of hooks, groups of parameters and their lists, state. Each is seen by the next call, however that is served."""

from collections import OrderedDict

import pytest

from tracegrad.compiled.parts import still
from tracegrad.compiled.replay import fast_path
from tracegrad.runtime import references
from tracegrad.tracing.counted import Counted
from tracegrad.tracing.watch import WatchedDict, WatchedList, counter

NEW = object()
CALLS, FIRST = 9, 5  # calls, and the first of them before which something is written


class Scaled:
    """A model, an optimizer of it, and a training step that depends on all that can be written."""

    def __init__(self, tg, kind="SGD"):
        class Model(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale, self.flag = 2.0, True
                self.inner, self.drop = tg.nn.Linear(3, 3), tg.nn.Dropout(0.0)
                self.register_buffer("shift", tg.zeros(3))

            def forward(self, x):
                y = self.drop(self.inner(x)) + self.shift
                return y * self.scale if self.flag else y

        tg.manual_seed(0)
        self.model = Model()
        self.model.register_forward_hook(lambda module, args, out: out + 0.5)
        options = {"momentum": 0.5} if kind == "SGD" else {}
        self.optimizer = getattr(tg.optim, kind)(self.model.parameters(), lr=0.1, **options)

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def put(container, name, value):
    dict.__setitem__(container, name, value)


def group(case):
    return case.optimizer.param_groups[0]


def state(case, tg, i):
    for entry in case.optimizer.state.values():
        for key in dict.keys(entry):
            put(entry, key, tg.full_like(dict.__getitem__(entry, key), 0.5 * i))


#: ``write(case, i, tg)``, before call number `i`.
MODULE = {
    "object.__setattr__": lambda c, i, tg: object.__setattr__(c.model, "scale", 1.0 + i),
    "object.__setattr__ flag": lambda c, i, tg: object.__setattr__(c.model, "flag", i % 2 == 0),
    "object.__setattr__ forward": lambda c, i, tg: object.__setattr__(
        c.model.inner, "forward", lambda x: x @ c.model.inner.weight * i
    ),
    "object.__setattr__ __dict__": lambda c, i, tg: object.__setattr__(
        c.model, "__dict__", {**c.model.__dict__, "scale": 1.0 + i}
    ),
    "vars": lambda c, i, tg: vars(c.model).__setitem__("scale", 1.0 + i),
    "dict.__setitem__ of vars": lambda c, i, tg: put(vars(c.model), "scale", 1.0 + i),
    "dict.update of vars": lambda c, i, tg: dict.update(vars(c.model), scale=1.0 + i),
    "dict.__ior__ of vars": lambda c, i, tg: dict.__ior__(vars(c.model), {"scale": 1.0 + i}),
    "an option": lambda c, i, tg: put(vars(c.model.drop), "p", 1.0),
    "a buffer": lambda c, i, tg: put(c.model._buffers, "shift", tg.full((3,), 1.0 * i)),
    "a parameter": lambda c, i, tg: put(c.model.inner._parameters, "bias", None),
    "a submodule": lambda c, i, tg: put(c.model._modules, "inner", tg.nn.Sequential(c.model.inner, tg.nn.Tanh())),
    "no hook": lambda c, i, tg: OrderedDict.clear(c.model._forward_hooks),
    "a hook": lambda c, i, tg: OrderedDict.__setitem__(c.model._forward_hooks, 0, lambda module, args, out: out * i),
}
OPTIMIZER = {
    "lr": lambda c, i, tg: put(group(c), "lr", 0.01 * i),
    "weight_decay": lambda c, i, tg: put(group(c), "weight_decay", 0.1 * i),
    "maximize": lambda c, i, tg: put(group(c), "maximize", i % 2 == 0),
    "dict.update of a group": lambda c, i, tg: dict.update(group(c), lr=0.01 * i),
    "a list of groups": lambda c, i, tg: list.__setitem__(
        c.optimizer.param_groups, 0, {**dict.items(group(c)).mapping, "lr": 0.01 * i}
    ),
    "another list of groups": lambda c, i, tg: object.__setattr__(
        c.optimizer, "param_groups", [{**dict.items(group(c)).mapping, "lr": 0.01 * i}]
    ),
    "parameters in another order": lambda c, i, tg: list.reverse(group(c)["params"]),
    "fewer parameters": lambda c, i, tg: list.__delitem__(group(c)["params"], slice(1)) if i == FIRST else None,
    "a parameter twice replaced": lambda c, i, tg: list.__setitem__(
        group(c)["params"], 0, tg.ones(3, 3).requires_grad_() if i == FIRST else c.model.inner.weight
    ),
    "state": lambda c, i, tg: state(c, tg, i),
    "state cleared": lambda c, i, tg: dict.clear(c.optimizer.state),
    "step": lambda c, i, tg: object.__setattr__(c.optimizer, "step", lambda: None),
}
CASES = [("SGD", name, write) for name, write in (MODULE | OPTIMIZER).items()]
CASES += [("Adam", name, write) for name, write in OPTIMIZER.items()]
WAYS = ("replayed", "re-recorded", "deferred")


def outcomes(tg, kind, write, way):
    """The losses of all calls, and what the parameters are in the end."""
    case, x, losses, seen = Scaled(tg, kind), tg.arange(6.0).reshape(2, 3), [], []

    def logged(x):
        seen.append(len(seen))
        return case.step(x)

    step = {"eager": case.step, "replayed": tg.compile(case.step), "re-recorded": tg.compile(logged)}.get(way, logged)
    parameters = [*case.model.parameters()]

    def run():
        for i in range(CALLS):
            if i >= FIRST:
                write(case, i, tg)
            losses.append(step(x).tolist())

    if way == "deferred":
        with tg.deferred():
            run()
    else:
        run()
    return losses, [p.tolist() for p in parameters]


@pytest.mark.parametrize(("kind", "name", "write"), CASES, ids=[f"{kind}-{name}" for kind, name, _ in CASES])
def test_the_next_call_sees_it(tg, kind, name, write):
    expected_losses, expected = outcomes(tg, kind, write, "eager")
    for way in WAYS:
        losses, parameters = outcomes(tg, kind, write, way)
        assert losses == pytest.approx(expected_losses, rel=1e-5, abs=1e-6), way
        for actual, wanted in zip(parameters, expected, strict=True):
            assert tg.tensor(actual).allclose(tg.tensor(wanted), 1e-4, 1e-6), way


@pytest.mark.parametrize("name", ["object.__setattr__", "a submodule", "lr", "a list of groups", "step"])
def test_the_next_call_sees_it_where_dicts_have_no_versions(tg, name, monkeypatch):
    """As on other versions of Python: contents are compared."""
    for module in (references, fast_path, still):
        monkeypatch.setattr(module, "versions_are_known", False)
    test_the_next_call_sees_it(tg, "SGD", name, (MODULE | OPTIMIZER)[name])


def containers_of(thing):
    """All counting containers within an object, by name."""
    found, stack = {}, [("__dict__", vars(thing))]
    while stack:
        name, container = stack.pop()
        found[name] = container
        items = enumerate(container) if isinstance(container, list) else dict.items(container)
        for i, (key, value) in enumerate([*items]):
            if isinstance(value, (WatchedDict, WatchedList)):
                stack.append((f"{name}.{key if isinstance(key, str) else i}", value))
    return found


def writes_to(container):
    """Raw writes that change a container, each with one that puts it back."""
    if isinstance(container, list):
        kept = [*container]
        yield lambda: list.append(container, NEW), lambda: list.pop(container)
        yield lambda: list.insert(container, 0, NEW), lambda: list.pop(container, 0)
        yield lambda: list.clear(container), lambda: list.extend(container, kept)
        for i in range(len(kept)):
            yield lambda i=i: list.__setitem__(container, i, NEW), lambda i=i: list.__setitem__(container, i, kept[i])
        return
    if isinstance(container, OrderedDict) and not container:
        return  # hooks come into an empty table in the form that its methods give them
    base = OrderedDict if isinstance(container, OrderedDict) else dict
    yield lambda: base.__setitem__(container, "new", NEW), lambda: base.__delitem__(container, "new")
    yield lambda: base.update(container, new=NEW), lambda: base.pop(container, "new")
    yield lambda: base.setdefault(container, "new", NEW), lambda: base.pop(container, "new")
    for key, value in [*dict.items(container)]:
        if (
            isinstance(value, (WatchedDict, WatchedList))
            or not isinstance(key, str)
            or key[:1] == "_"
            or key == "fused_step"
        ):
            continue
        yield (
            lambda key=key: base.__setitem__(container, key, NEW),
            lambda key=key, value=value: base.__setitem__(container, key, value),
        )


@pytest.mark.parametrize("known", [True, False], ids=["by versions", "by contents"])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_each_raw_write_to_each_container_is_counted(tg, kind, known, monkeypatch):
    """Mechanically: a write past the methods is counted by the next look, and so is its undoing."""
    monkeypatch.setattr(references, "versions_are_known", known and references.versions_are_known)
    case = Scaled(tg, kind)
    step, x = tg.compile(case.step), tg.ones(2, 3)
    for _ in range(4):
        step(x)
    (looked,) = (each.recording.environment.counted_containers for each in step.specialisations)
    things = [case.model, case.model.inner, case.model.drop, case.optimizer]
    assert all(isinstance(thing, Counted) for thing in things)
    everything, count = counter(("count", "modules", "options", "training")), 0
    for thing in things:
        for name, container in containers_of(thing).items():
            for write, undo in writes_to(container):
                assert looked.look() and looked.agree() and looked.look(), name
                for change in (write, undo):
                    before = everything()
                    change()
                    looked.look()
                    assert everything() != before, name
                    looked.look()
                count += 1
    assert count > 80


def test_counted_writes_are_not_counted_again(tg):
    """What the methods have counted leaves what does not depend on it alone."""
    case = Scaled(tg)
    step, x = tg.compile(case.step), tg.ones(2, 3)
    for i in range(8):
        step(x)
        group(case)["lr"] = 0.1 / (i + 1)
        case.model.scale = 2.0
        (case.model.eval if i % 2 else case.model.train)()
        for specialisation in step.specialisations:
            assert specialisation.recording.environment.counted_containers.look()
