"""``step.run(batches)`` does what ``[step(*batch) for batch in batches]`` does, bit for bit, and is few calls of C.

A family of programs x forms of batches x what comes in between: both are made anew for each of the two ways.
"""

import itertools

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.execution import loop
from tracegrad.tensors.generator import default_generator

F = tg.nn.functional
STEPS, ROWS = 23, 4
FEATURES, CLASSES = 3, 5


class Case:
    """A step, what it changes besides results, and how much of it is done at once."""

    at_once = True  # all but the first steps, where batches allow it
    inputs = ("x", "y")

    def __init__(self):
        tg.manual_seed(1)
        self.model = tg.nn.Sequential(tg.nn.Linear(FEATURES, 6), tg.nn.Tanh(), tg.nn.Linear(6, CLASSES))
        self.losses, self.options = [], {"scale": 1.0}
        self.prepare()
        self.optimizer = self.optimizer_of(list(self.model.parameters()))
        self.step = tg.compile(self.make())

    def prepare(self):
        pass

    def optimizer_of(self, parameters):
        return tg.optim.SGD(parameters, lr=0.1)

    def make(self):
        model, optimizer = self.model, self.optimizer

        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step

    def tensors(self):
        slots = [t for s in dict.values(self.optimizer.state) for t in dict.values(s) if isinstance(t, tg.Tensor)]
        return [*self.model.parameters(), *self.model.buffers(), *slots]

    def gradients(self):
        return [p._grad for p in self.model.parameters()]

    def numbers(self):
        """What a program computes; its rounding may depend on what else the program is of."""
        arrays = [None if t is None else t.detach().ndarray for t in [*self.tensors(), *self.gradients()]]
        return [None if array is None else array.tobytes() for array in arrays], self.losses

    def state(self):
        """What has no rounding."""
        own = [default_generator.state.ndarray.tobytes(), default_generator.cached.ndarray.tobytes()]
        versions = [t if t is None else t.buffer.version for t in [*self.tensors(), *self.gradients()]]
        rates = [group["lr"] for group in self.optimizer.param_groups]
        return own, versions, rates, self.options

    def everything(self):
        return self.numbers(), self.state()


class Momentum(Case):
    def optimizer_of(self, parameters):
        return tg.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True)


class DropoutAdam(Case):
    def prepare(self):
        self.model = tg.nn.Sequential(tg.nn.Linear(FEATURES, 6), tg.nn.Dropout(0.5), tg.nn.Linear(6, CLASSES))

    def optimizer_of(self, parameters):
        return tg.optim.Adam(parameters, lr=0.01)


class BatchNorm(Case):
    def prepare(self):
        self.model = tg.nn.Sequential(tg.nn.Linear(FEATURES, 6), tg.nn.BatchNorm1d(6), tg.nn.Linear(6, CLASSES))


class Appending(Case):
    def make(self):
        model, optimizer, losses = self.model, self.optimizer, self.losses

        def step(x, y):
            optimizer.zero_grad()
            scores = model(x)
            loss = F.cross_entropy(scores, y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            return {"loss": loss.item(), "scores": scores.detach(), "pair": (loss.detach(), None, "kept")}

        return step


class Silent(Case):
    def make(self):
        inner = Case.make(self)

        def step(x, y):
            inner(x, y)

        return step


class Scheduled(Case):
    at_once = False  # the scheduler's Python runs

    def make(self):
        inner, scheduler = Case.make(self), tg.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)

        def step(x, y):
            loss = inner(x, y)
            scheduler.step()
            return loss

        return step


class Accumulating(Case):
    def make(self):
        model = self.model

        def step(x, y):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        return step


class Branching(Case):
    at_once = False  # Python looks at a number

    def make(self):
        inner = Case.make(self)

        def step(x, y):
            loss = inner(x, y)
            return loss * 2 if loss > 1.5 else loss

        return step


class Forward(Case):
    at_once = False  # results can still be differentiated

    def make(self):
        model = self.model
        return lambda x, y: model(x).sum()


class Normals(Case):
    at_once = False  # a normal number may be left over for the next step

    def make(self):
        inner = Case.make(self)
        return lambda x, y: inner(x + 0.1 * tg.randn(3), y)


class ReturnsParameter(Case):
    at_once = False

    def make(self):
        inner, weight = Case.make(self), self.model[0].weight
        return lambda x, y: (inner(x, y), weight)


class Plain(Case):
    """As little to compile as there can be."""

    def prepare(self):
        self.model = tg.nn.Linear(FEATURES, CLASSES)

    def make(self):
        weight, losses = self.model.weight, self.losses

        def step(x, y):
            scores = x @ weight.detach().T
            with tg.no_grad():
                weight.add_((scores * y[:, None]).mean() * 0.01)
            loss = scores.sum()
            losses.append(loss.item())
            return loss, y * 2

        return step


class Mixed(Case):
    """A closed-over number, results of several dtypes, one without elements."""

    def make(self):
        model, optimizer, options = self.model, self.optimizer, self.options

        def step(x, y):
            optimizer.zero_grad()
            scores = model(x) * options["scale"]
            loss = F.cross_entropy(scores, y)
            loss.backward()
            optimizer.step()
            return [loss, scores.argmax(1), (scores > 0).any(), scores.detach().double(), scores.detach()[:0]]

        return step


CASES = {kind.__name__: kind for kind in [Case, *Case.__subclasses__()]}


def data(steps=STEPS):
    rng = np.random.default_rng(0)
    x = tg.tensor(rng.standard_normal((steps, ROWS, FEATURES)).astype(np.float32))
    return x, tg.tensor(rng.integers(0, CLASSES, (steps, ROWS)))


def dataset(steps=STEPS):
    x, y = data(steps)
    return tg.utils.data.TensorDataset(x.reshape(-1, FEATURES), y.reshape(-1))


class OwnDataset(tg.utils.data.TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x * 2, y


def other_shapes():
    x, y = data()
    sizes = [ROWS if i % 9 else 2 for i in range(STEPS)]
    return [(x[i, :n].clone(), y[i, :n].clone()) for i, n in enumerate(sizes)]


def loader(**options):
    return lambda: (tg.utils.data.DataLoader(dataset(), batch_size=ROWS, **options),)


def drawing():
    """A generator that draws from what the steps draw from."""
    x, y = data()
    return ((x[i] + tg.rand(1), y[i]) for i in range(STEPS))


# What `run` gets, and whether guards are looked at once for many steps.
FORMS = {
    "list": (lambda: ([(a.clone(), b.clone()) for a, b in zip(*data(), strict=True)],), True),
    "tuple of lists": (lambda: (tuple([a.clone(), b.clone()] for a, b in zip(*data(), strict=True)),), True),
    "views": (lambda: (list(zip(*data(), strict=True)),), True),
    "stacked": (data, True),
    "dataset": (lambda: (tg.utils.data.TensorDataset(*data()),), True),
    "loader": (loader(), True),
    "shuffled": (loader(shuffle=True), True),
    "shuffled by a generator": (lambda: loader(shuffle=True, generator=tg.Generator().manual_seed(3))(), True),
    "the default generator": (lambda: loader(shuffle=True, generator=default_generator)(), True),
    "last batch smaller": (
        lambda: (tg.utils.data.DataLoader(dataset(), batch_size=6, shuffle=True, drop_last=False),), True,
    ),
    "drop last": (lambda: (tg.utils.data.DataLoader(dataset(), batch_size=6, shuffle=True, drop_last=True),), True),
    "replacement": (
        lambda: loader(sampler=tg.utils.data.RandomSampler(dataset(), replacement=True))(), False,
    ),
    "other shapes": (lambda: (other_shapes(),), False),
    "generator": (lambda: (((a, b) for a, b in zip(*data(), strict=True)),), False),
    "drawing generator": (lambda: (drawing(),), False),
    "own dataset": (lambda: (tg.utils.data.DataLoader(OwnDataset(*dataset().tensors), batch_size=ROWS),), False),
    "own collation": (loader(collate_fn=lambda rows: tg.utils.data.default_collate(rows)), False),
    "requires grad": (lambda: (data()[0].requires_grad_(), data()[1]), False),
    "none": (lambda: ([],), False),
}  # fmt: skip


def as_loop(form):
    """The iterable that is the definition."""
    return form[0] if len(form) == 1 else zip(*form, strict=True)


@pytest.fixture
def at_once(monkeypatch):
    """How many steps each call of C has done."""
    done, run = [], loop.Loop.run

    def counting(self):
        run(self)
        done.append(self.done)

    monkeypatch.setattr(loop.Loop, "run", counting)
    monkeypatch.setattr(loop, "LONGEST", 1e6)
    return done


def values(tree):
    """A result as plain values, taken now."""
    if isinstance(tree, tg.Tensor):
        return str(tree.dtype), tuple(tree.shape), tree.detach().ndarray.tobytes()
    if isinstance(tree, (list, tuple)):
        return type(tree), [values(item) for item in tree]
    return {k: values(v) for k, v in tree.items()} if isinstance(tree, dict) else tree


def stacked(results):
    """What `run` makes of the results of steps, each a tree of copies."""
    if not results:
        return []
    first = results[0]
    if isinstance(first, tg.Tensor):
        return tg.stack(results) if len({tuple(r.shape) for r in results}) == 1 else list(results)
    if isinstance(first, (list, tuple)):
        return type(first)(stacked([r[i] for r in results]) for i in range(len(first)))
    if isinstance(first, dict):
        return {key: stacked([r[key] for r in results]) for key in first}
    return None if all(r is None for r in results) else list(results)


def copied(tree):
    if isinstance(tree, tg.Tensor):
        return tree.detach().clone()
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(copied, tree))
    return {k: copied(v) for k, v in tree.items()} if isinstance(tree, dict) else tree


def nothing(case, done):
    pass


def rate(case, done):
    case.optimizer.param_groups[0]["lr"] = 0.1 / done


def evaluate(case, done):
    case.model.train(done % 2 == 0)


def write(case, done):
    with tg.no_grad():
        case.model[0].weight.mul_(0.5)


def option(case, done):
    case.options["scale"] = 1.0 + done % 3


def hold(case, done):
    case.held = [p.grad for p in case.model.parameters()], [p.detach() for p in case.model.parameters()]


def forget(case, done):
    case.optimizer.zero_grad()


def other_gradients(case, done):
    for p in case.model.parameters():
        p.grad = tg.ones_like(p)


HOOKS = {hook.__name__: hook for hook in (nothing, rate, evaluate, write, option, hold, forget, other_gradients)}


def by_loop(kind, form, every, hook):
    case = CASES[kind]()
    results, told = [], []
    for batch in as_loop(FORMS[form][0]()):
        results.append(copied(case.step(*batch)))
        if every and len(results) % every == 0:
            told.append((len(results), values(stacked(results[-every:]))))
            hook(case, len(results))
    rest = len(results) % every if every else 0
    if rest:
        told.append((len(results), values(stacked(results[-rest:]))))
        hook(case, len(results))
    return case, values(stacked(results)), told


def by_run(kind, form, every, hook):
    case = CASES[kind]()
    told = []

    def on_log(done, results):
        told.append((done, values(results)))
        hook(case, done)

    options = {"every": every, "on_log": on_log} if every else {}
    return case, values(case.step.run(*FORMS[form][0](), **options)), told


def assert_equal(kind, form, every=None, hook=nothing):
    ours, results, told = by_run(kind, form, every, hook)
    other, expected, expected_told = by_loop(kind, form, every, hook)
    assert ours.step.way == other.step.way
    # Where the batches' history began outside, a loop and `run` look at other numbers in between.
    compare = assert_close if form == "requires grad" and ours.step.way == "re-record" else assert_same
    compare((results, told, ours.numbers()), (expected, expected_told, other.numbers()))
    assert ours.state() == other.state()


def assert_same(found, expected):
    assert found == expected


def assert_close(found, expected):
    """What is computed between two looks at numbers is one program, whose sums and exponentials round in their own
    way: four roundings, of the largest number for sums in which much cancels."""
    if isinstance(expected, bytes):
        found, expected = np.frombuffer(found, "u1"), np.frombuffer(expected, "u1")
        assert found.size == expected.size
        if not np.array_equal(found, expected):
            found, expected = found.view("f4"), expected.view("f4")
            np.testing.assert_allclose(found, expected, rtol=5e-7, atol=5e-7 * np.abs(expected).max())
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        assert_close(list(found.values()), list(expected.values()))
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=5e-7)
    else:
        assert found == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["Plain"])
def test_forms_of_batches(kind, form, at_once):
    assert_equal(kind, form)
    if FORMS[form][1]:
        steps = sum(at_once)
        total = {"last batch smaller": 15, "drop last": 15}.get(form, STEPS)  # whole batches
        assert total - 4 <= steps <= total + 1
        assert len(at_once) <= 2 + (form in ("list", "tuple of lists", "views"))


USUAL = ["Case", "DropoutAdam", "Appending", "Accumulating", "Branching", "ReturnsParameter", "Mixed"]


@pytest.mark.parametrize("kind", [k if k in USUAL else pytest.param(k, marks=pytest.mark.long) for k in CASES])
def test_programs(kind, at_once):
    assert_equal(kind, "stacked")
    assert (len(at_once), sum(at_once) >= STEPS - 4) == (1, True) if CASES[kind].at_once else not any(at_once)


@pytest.mark.parametrize("kind, hook", [*(("Case", hook) for hook in HOOKS), ("Mixed", "option")])
def test_what_a_hook_changes_is_seen(kind, hook, at_once):
    assert_equal(kind, "stacked", 4, HOOKS[hook])
    assert sum(at_once) >= (2 if hook == "evaluate" else 6)


@pytest.mark.long(every=601)
@pytest.mark.parametrize(
    "kind, form, every, hook", list(itertools.product(CASES, FORMS, [1, 5, 100], HOOKS)), ids=lambda value: str(value)
)
def test_all(kind, form, every, hook, at_once):
    assert_equal(kind, form, every, HOOKS[hook])


@pytest.mark.parametrize("form", ["list", "stacked", "shuffled"])
def test_one_step_at_a_time(form, monkeypatch, at_once):
    """No time at all for a call of C: each does one step, and nothing else changes."""
    monkeypatch.setattr(loop, "LONGEST", -1.0)
    assert_equal("Appending", form)
    assert set(at_once) == {1} and len(at_once) >= STEPS - 3


def test_a_single_tensor_and_single_arguments(at_once):
    def make():
        w = tg.ones(2, requires_grad=True)

        @tg.compile
        def step(x):
            w.grad = None
            (w * x).sum().backward()
            with tg.no_grad():
                w.sub_(w.grad)
            return w.sum().detach()

        return w, step

    rows = tg.arange(20.0).reshape(10, 2)
    for batches in (rows, [row.clone() for row in rows], [(row,) for row in rows], tuple(rows)):
        (w, step), (v, twin) = make(), make()
        at_once.clear()
        assert step.run(batches).tolist() == [twin(x).item() for x in rows]
        assert w.tolist() == v.tolist() and sum(at_once) >= 7


def test_numbers_among_the_arguments(at_once):
    def make():
        return tg.compile(lambda x, scale: (x * scale).sum())

    x = tg.ones(3)
    batches = [(x + i, float(i // 10)) for i in range(40)]
    one, other = make(), make()
    assert one.run(batches).tolist() == [other(*batch).item() for batch in batches]
    assert len(at_once) >= 2 and sum(at_once) >= 20


def test_batches_that_are_added_on_the_way(at_once):
    """A list is gone through as by a ``for`` loop."""
    case, twin = Case(), Case()
    x, y = data(10)
    batches, more = [(x[i], y[i]) for i in range(6)], [(x[i], y[i]) for i in range(6, 10)]
    grown = list(batches)
    results = case.step.run(grown, every=5, on_log=lambda done, _: grown.extend(more) if done == 5 else None)
    assert results.tolist() == [twin.step(*batch).item() for batch in [*batches, *more]]
    assert case.everything() == twin.everything()


def test_results_of_different_structure_come_as_a_list():
    step = tg.compile(lambda x: (x, x * 2) if x.shape[0] > 1 else x * 3)
    results = step.run([tg.ones(2), tg.ones(2), tg.ones(1), tg.ones(2)])
    assert [type(r) for r in results] == [tuple, tuple, tg.Tensor, tuple]
    assert results[0][1].tolist() == [2.0, 2.0] and results[2].tolist() == [3.0]
    shapes = tg.compile(lambda x: (x * 2, x.sum())).run([tg.ones(n) for n in (1, 2, 2, 2, 2, 3)])
    assert [t.tolist() for t in shapes[0]] == [[2.0] * n for n in (1, 2, 2, 2, 2, 3)]
    assert shapes[1].tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, 3.0]


def test_results_that_can_be_differentiated():
    w = tg.ones(2, requires_grad=True)
    out = tg.compile(lambda x: (w * x).sum()).run(tg.arange(10.0).reshape(5, 2))
    out.sum().backward()
    assert w.grad.tolist() == [20.0, 25.0]
    assert not Case().step.run(*data()).requires_grad


def test_a_later_change_of_a_result_changes_no_other():
    case = Case()
    seen = []
    everything = case.step.run(*data(), every=STEPS, on_log=lambda done, results: seen.append(results.zero_()))
    assert seen[0].abs().sum() == 0 and everything.abs().sum() > 0


BAD = [("stacked", bad) for bad in (0, 1, 2, 3, 9, STEPS - 1)] + [(form, 9) for form in ("list", "loader", "generator")]


@pytest.mark.parametrize("form, bad", BAD)
def test_an_error_leaves_the_steps_before_it_done(form, bad):
    def batches():
        x, y = data()
        y[bad, 1] = CLASSES + 7
        if form == "loader":
            whole = tg.utils.data.TensorDataset(x.reshape(-1, FEATURES), y.reshape(-1))
            return (tg.utils.data.DataLoader(whole, batch_size=ROWS),)
        rows = [(x[i], y[i]) for i in range(STEPS)]
        return {"list": (rows,), "stacked": (x, y), "generator": (iter(rows),)}[form]

    ours, other = Appending(), Appending()
    with pytest.raises(IndexError) as error:
        ours.step.run(*batches())
    with pytest.raises(IndexError) as expected:
        for batch in as_loop(batches()):
            other.step(*batch)
    assert str(error.value) == str(expected.value)
    assert ours.everything() == other.everything() and len(ours.losses) == bad
    x, y = data()
    assert ours.step(x[0], y[0])["loss"] == other.step(x[0], y[0])["loss"]


def test_an_error_in_a_hook_leaves_the_steps_before_it_done():
    ours, other = Appending(), Appending()

    def stop(done, results):
        raise EOFError

    with pytest.raises(EOFError):
        ours.step.run(*data(), every=7, on_log=stop)
    for batch in list(zip(*data(), strict=True))[:7]:
        other.step(*batch)
    assert ours.everything() == other.everything()


def test_a_batch_that_is_none_is_refused_at_its_place():
    ours, other = Case(), Case()
    x, y = data()
    rows = [(x[i], y[i]) for i in range(STEPS)]
    with pytest.raises(TypeError):
        ours.step.run([*rows[:8], (x[0],), *rows[8:]])
    for row in rows[:8]:
        other.step(*row)
    assert ours.everything() == other.everything()


def test_inside_another_compiled_function():
    x = tg.arange(6.0).reshape(3, 2)
    inner = tg.compile(lambda x: x * 2)
    outer = tg.compile(lambda x: inner.run(x).sum())
    assert [outer(x + i).item() for i in range(4)] == [(x + i).sum().item() * 2 for i in range(4)]


@pytest.mark.parametrize(
    "arguments, options, error, words",
    [
        ((tg.ones(2, 1), tg.ones(3, 1)), {}, ValueError, r"different numbers of steps: \[2, 3\]"),
        ((tg.ones(2, 1), [1]), {}, TypeError, "list as number 1 of several arguments"),
        ((tg.ones(2, 1), tg.ones(())), {}, TypeError, "a tensor without dimensions"),
        ((tg.ones(()),), {}, TypeError, "iteration over a 0-d tensor"),
        ((3,), {}, TypeError, "not iterable"),
        (([],), {"every": 2}, ValueError, "every without on_log"),
        (([],), {"on_log": print}, ValueError, "on_log without every"),
        (([],), {"every": 0, "on_log": print}, ValueError, "every=0"),
        (([],), {"every": True, "on_log": print}, ValueError, "every=True"),
    ],
)
def test_what_is_refused(arguments, options, error, words):
    step = tg.compile(lambda *args: sum(args))
    with pytest.raises(error, match=words):
        step.run(*arguments, **options)
