"""Methods of the library's own classes that are patched between the calls, on the class or on an object.

What is patched is called from the next call on, whether calls were replayed before or not.
"""

import gc
import inspect
import types
import warnings

import pytest

import tracegrad
from tracegrad.optim import lr_scheduler
from tracegrad.tensors.autocasting import state as autocast
from tracegrad.tracing.watched_classes import classes

nn, optim = tracegrad.nn, tracegrad.optim


class Double(tracegrad.autograd.Function):
    """An operation of the program's own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def model():
    return nn.Linear(3, 3)


def optimizer():
    return optim.SGD(model().parameters(), lr=0.1, momentum=0.5)


# Arguments to make an object with, where there have to be any; tried in this order.
ARGUMENTS = ((), (3,), (3, 3), (2, 3, 4), ([model()],), (0, (3, 1)), ([tracegrad.ones(2)],))
SCHEDULERS = {
    "LambdaLR": (lambda epoch: 0.5,), "MultiplicativeLR": (lambda epoch: 0.5,), "StepLR": (2,), "MultiStepLR": ([2],),
    "ExponentialLR": (0.9,), "CosineAnnealingLR": (5,), "CosineAnnealingWarmRestarts": (5,), "CyclicLR": (0.1, 0.2),
    "OneCycleLR": (0.1, 10), "SWALR": (0.1,),
}  # fmt: skip
# What is replaced without a method being called: documents, tables, what a statement of a class makes of it. And a
# block that is entered and not left would hold for all tests that follow.
NO_CALLS = {
    "__enter__", "__class_getitem__", "__init_subclass__", "__new__", "__init__", "__del__", "__slots__", "__class__",
}  # fmt: skip


def made(kind):
    """An object of the class, None if nothing here can make one."""
    if issubclass(kind, lr_scheduler.LRScheduler):
        base = optimizer()
        if kind.__name__ == "SequentialLR":
            return kind(base, [lr_scheduler.StepLR(base, 1), lr_scheduler.StepLR(base, 2)], [1])
        if kind.__name__ == "ChainedScheduler":
            return kind([lr_scheduler.StepLR(base, 1)])
        return kind(base, *SCHEDULERS.get(kind.__name__, ()))
    if issubclass(kind, optim.Optimizer):
        return kind([model().weight], lr=0.1)  # a matrix, which all of them take
    if kind in (nn.Parameter, tracegrad.Tensor):
        return kind(tracegrad.ones(2, 2)) if kind is nn.Parameter else tracegrad.ones(2, 2)
    if kind is nn.Transformer:  # whose sizes, unless they are given, are 44 million numbers
        return kind(4, 1, 1, 1, 4)
    for arguments in ARGUMENTS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of old names, and of what has no device
                return kind(*arguments)
        except Exception:
            continue
    return None


def objects():
    """For each watched class objects of it, or of classes that inherit from it."""
    found = {}
    public = [kind for kind in classes.kinds if not kind.__name__.startswith("_")]
    for kind in sorted(public, key=lambda kind: len(kind.__mro__)):
        if kind.__module__.startswith(("tracegrad.utils", "tracegrad.autograd.function", "tracegrad.ops.types")):
            continue  # loaders give a batch to the step, the tape calls these
        abstract = kind.__name__ in ("LRScheduler", "ClosedForm", "Optimizer", "Elementwise")
        value = Double() if kind is tracegrad.autograd.Function else None if abstract else made(kind)
        for base in kind.__mro__:
            if base in classes.kinds and value is not None:
                found.setdefault(base, []).append(value)
    return found


OBJECTS = objects()


def methods(kind):
    """The methods and properties that the class itself defines, with how they are wrapped."""
    for name, member in vars(kind).items():
        private = name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
        is_one = isinstance(member, (types.FunctionType, property, staticmethod, classmethod))
        if is_one and not private and name not in NO_CALLS:
            yield name, member


def object_with(kind, name):
    """An object whose method of that name is the class's own; None if there are subclasses' only."""
    own = [value for value in OBJECTS[kind] if inspect.getattr_static(type(value), name) is vars(kind)[name]]
    return own[0] if own else None


@pytest.fixture(autouse=True)
def blocks_are_put_back():
    """Methods that end a block of autocast are called without one that begins it."""
    before = autocast.nesting
    yield
    autocast.nesting = before


CASES = [(kind, name) for kind in OBJECTS for name, _ in methods(kind) if object_with(kind, name) is not None]
FEW = 80  # one of so many is tried in the fast tier


def patched(member, calls):
    """The same member, which notes that it is called."""
    original = member.fget if isinstance(member, property) else getattr(member, "__func__", member)

    def patch(*args, **kwargs):
        calls.append(1)
        return original(*args, **kwargs)

    if isinstance(member, property):
        return property(patch, member.fset, member.fdel)
    return type(member)(patch) if isinstance(member, (staticmethod, classmethod)) else patch


def step_that_calls(kind, name, member):
    """A step that calls the method, whatever comes of it; each object is made anew, as far as the step changes it."""
    count = 0
    if not isinstance(member, property):
        given = list(inspect.signature(getattr(member, "__func__", member)).parameters.values())
        needed = [p for p in given if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        count = len(needed) - (not isinstance(member, staticmethod))
    call = f"thing.{name}" if isinstance(member, property) else f"thing.{name}({', '.join(['x'] * count)})"
    source = f"def step(x):\n    try:\n        {call}\n    except Exception:\n        pass\n    return x * 2\n"
    space = {"thing": object_with(kind, name), "__name__": __name__}
    exec(source, space)
    return space["step"]


def served(step, x):
    step(x)
    return step.way


def calls_before_and_after(kind, name, member):
    """How the call before the patch was served; how often the patch was called in each of two calls after it."""
    step, x = tracegrad.compile(step_that_calls(kind, name, member)), tracegrad.ones(2, 2)
    way = [served(step, x) for _ in range(3)][-1]
    calls, counts = [], []
    setattr(kind, name, patched(member, calls))
    try:
        for _ in range(3):
            before = len(calls)
            step(x)
            counts.append(len(calls) - before)
    finally:
        setattr(kind, name, member)
    return way, counts


def silent_in(cases):
    """The methods whose patch is not called at some call, with how the calls were served."""
    found = {}
    for kind, name in cases:
        way, counts = calls_before_and_after(kind, name, vars(kind)[name])
        if not all(counts):
            found[kind.__name__, name] = way, counts
    return found


@pytest.mark.filterwarnings("ignore:.*(get_last_lr|lr_scheduler.step).*:UserWarning")
def test_some_public_methods_may_be_patched():
    assert silent_in(CASES[::FEW]) == {}


@pytest.mark.long(every=23)
@pytest.mark.filterwarnings("ignore:.*(get_last_lr|lr_scheduler.step).*:UserWarning")
@pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, _ in CASES), ids=lambda kind: kind.__name__)
def test_every_public_method_may_be_patched(kind):
    assert silent_in(case for case in CASES if case[0] is kind) == {}


def test_how_many_there_are():
    assert len({kind for kind, _ in CASES}) > 70
    assert len(CASES) > 450


# ---------------------------------------------------------------------------------------------- patches as programs do


@pytest.fixture
def step():
    """A training step that names what is patched, replayed."""
    net, weight, generator = model(), tracegrad.ones(3, requires_grad=True), tracegrad.Generator()
    sgd = optim.SGD(net.parameters(), lr=0.1)

    @tracegrad.compile
    def step(x):
        generator.manual_seed(3)
        sgd.zero_grad()
        loss = net(x).sum() + weight.sum() + net.weight.mean()
        with tracegrad.no_grad():
            x.exp()
        loss = loss + Double.apply(weight).sum()
        loss.backward()
        sgd.step()
        net.eval()
        return loss

    step.things = {"sgd": sgd, "weight": weight, "parameter": net.weight, "net": net, "generator": generator}
    for _ in range(4):
        step(tracegrad.ones(2, 3))
    assert step.way == "replay"
    return step


def counts_of(step, calls, times=3):
    out = []
    for _ in range(times):
        before = len(calls)
        step(tracegrad.ones(2, 3))
        out.append(len(calls) - before)
    return out


ON_OBJECTS = (
    ("sgd", "step"), ("sgd", "zero_grad"), ("weight", "sum"), ("parameter", "mean"), ("net", "forward"),
    ("net", "eval"), ("generator", "manual_seed"),
)  # fmt: skip


@pytest.mark.parametrize("thing, name", ON_OBJECTS)
def test_an_attribute_that_hides_a_method_is_called(step, thing, name):
    owner, calls = step.things[thing], []
    original = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: (calls.append(1), original(*args, **kwargs))[1])
    assert counts_of(step, calls) == [1, 1, 1]
    delattr(owner, name)
    assert counts_of(step, calls) == [0, 0, 0]
    assert step.way == "replay"


def test_tensors_have_no_attributes_but_the_programs_own(step):
    """So that one look at all of them tells that none hides a method."""
    parameter, weight = step.things["parameter"], step.things["weight"]
    view, hooked = weight[1:], (weight * 2).detach().requires_grad_()
    hooked.register_hook(lambda gradient: None)
    hooked.sum().backward()
    for tensor in (parameter, weight, view, hooked, hooked.grad, weight.detach()):
        assert vars(tensor) == {}
    parameter.is_norm = True
    assert vars(parameter) == {"is_norm": True}


def test_an_attribute_that_hides_nothing_leaves_calls_as_usual():
    weight, x = tracegrad.ones(3), tracegrad.ones(2)
    step = tracegrad.compile(lambda x: x * weight.sum())
    assert [step(x).tolist() for _ in range(3)] == [[3.0, 3.0]] * 3
    weight.decays = True
    assert step(x).tolist() == [3.0, 3.0]
    assert step.way == "replay" and len(step.specialisations) == 1
    weight.sum = lambda: tracegrad.zeros(())
    assert step(x).tolist() == [0.0, 0.0]
    assert len(step.specialisations) == 2


ON_CLASSES = (
    (nn.Module, "__call__"), (nn.Linear, "forward"), (nn.Module, "eval"), (optim.SGD, "update"),
    (optim.Optimizer, "zero_grad"), (optim.Optimizer, "step"), (tracegrad.Tensor, "__add__"),
    (tracegrad.Tensor, "backward"), (tracegrad.no_grad.__mro__[2], "__enter__"), (tracegrad.Generator, "manual_seed"),
    (tracegrad.autograd.Function, "apply"), (tracegrad.autograd.function.FunctionCtx, "save_for_backward"),
)  # fmt: skip


@pytest.mark.parametrize("kind, name", ON_CLASSES, ids=lambda part: getattr(part, "__name__", part))
def test_a_method_that_is_patched_on_the_class_is_called(step, kind, name, monkeypatch):
    calls = []
    owner = next(base for base in kind.__mro__ if name in vars(base))
    monkeypatch.setattr(owner, name, patched(vars(owner)[name], calls))
    assert all(counts_of(step, calls))
    monkeypatch.undo()
    assert counts_of(step, calls) == [0, 0, 0]
    assert step.way == "replay"


def test_what_a_patch_computes_is_compiled_with_it(monkeypatch):
    double = tracegrad.compile(lambda x: x.relu() + 1)
    x = tracegrad.ones(2)
    assert [double(x).tolist() for _ in range(3)][-1] == [2, 2]
    relu = tracegrad.Tensor.relu
    monkeypatch.setattr(tracegrad.Tensor, "relu", lambda self: relu(self) * 3)
    assert [double(x).tolist() for _ in range(4)] == [[4, 4]] * 4
    assert double.way == "replay"
    monkeypatch.undo()
    assert [double(x).tolist() for _ in range(3)] == [[2, 2]] * 3


def test_a_method_that_is_new_is_found(monkeypatch):
    step = tracegrad.compile(lambda x: x.mine() if hasattr(x, "mine") else x * 2)
    x = tracegrad.ones(2)
    assert [step(x).tolist() for _ in range(3)][-1] == [2, 2]
    monkeypatch.setattr(tracegrad.Tensor, "mine", lambda self: self * 5, raising=False)
    assert [step(x).tolist() for _ in range(3)] == [[5, 5]] * 3


def test_a_step_that_patches_a_class_is_not_replayed():
    def patching(x):
        tracegrad.Tensor.mark = step.count = step.count + 1
        return x * 2

    step = tracegrad.compile(patching)
    step.count = 0
    try:
        for count in range(1, 5):
            step(tracegrad.ones(2))
            assert tracegrad.Tensor.mark == count
    finally:
        del tracegrad.Tensor.mark


def test_programs_may_give_subclasses_a_metaclass():
    class Meta(type):
        pass

    class Model(nn.Module, metaclass=Meta):
        pass

    assert type(Model) is Meta
    assert type(nn.Module) is type


def test_a_model_that_is_copied_is_no_patch(tg):
    """copyreg keeps the names of slots in the class."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    step = tg.compile(lambda x: model(x).detach().sum())
    for _ in range(3):
        step(tg.ones(1, 2))
    nn.Tanh.__slotnames__ = []
    try:
        step(tg.ones(1, 2))
    finally:
        del nn.Tanh.__slotnames__
    assert step.way == "replay" and len(step.specialisations) == 1


def things():
    net = model()
    sgd = optim.SGD(net.parameters(), lr=0.1)
    return {
        "optimizer": sgd, "generator": tracegrad.Generator(), "scheduler": lr_scheduler.StepLR(sgd, 2), "module": net,
        "parameter": net.weight, "no_grad": tracegrad.no_grad(), "compiled": tracegrad.compile(lambda x: x * 2),
        "handle": net.register_forward_hook(lambda *args: None),
        "dataset": tracegrad.utils.data.TensorDataset(net.bias), "node": (net.weight * 2).grad_fn, "loss": nn.MSELoss(),
    }  # fmt: skip


READS = ("thing.scale * x", "getattr(thing, 'scale', 9.0) * x", "vars(thing).get('scale', 9.0) * x")


@pytest.mark.parametrize("name", things())
def test_an_attribute_that_a_program_sets_on_an_object_of_the_library_is_guarded(name):
    thing = things()[name]
    for read in READS:
        thing.scale, x = 2.0, tracegrad.ones(2)
        space = {"thing": thing, "__name__": __name__}
        exec(f"def step(x):\n    return {read}", space)
        step = tracegrad.compile(space["step"])
        for _ in range(3):
            assert step(x).tolist() == [2.0, 2.0]
        thing.scale = 3.0
        assert [step(x).tolist() for _ in range(3)] == [[3.0, 3.0]] * 3, read
        del thing.scale
        if read != READS[0]:
            assert [step(x).tolist() for _ in range(3)] == [[9.0, 9.0]] * 3, read
            thing.scale = 4.0
            assert [step(x).tolist() for _ in range(3)] == [[4.0, 4.0]] * 3, read
            del thing.scale


def test_what_datasets_are_made_of_is_guarded():
    data = tracegrad.utils.data
    whole = data.TensorDataset(tracegrad.ones(4, 2))
    part, both = data.Subset(whole, [1, 2]), data.ConcatDataset([whole, whole])
    steps = [lambda x: x * whole[0][0], lambda x: x * part[0][0] * len(part), lambda x: x * both[5][0]]
    compiled = [tracegrad.compile(step) for step in steps]
    x = tracegrad.ones(2)
    for change in (
        lambda: setattr(whole, "tensors", (tracegrad.ones(4, 2) * 5,)),
        lambda: setattr(part, "indices", [0, 1, 2]),
        lambda: part.indices.append(3),
        lambda: setattr(part, "dataset", [[tracegrad.ones(2) * 7]] * 4),
    ):
        for step in compiled:
            assert [step(x) is not None for _ in range(3)] and step.way == "replay"
        change()
        for step, eager in zip(compiled, steps, strict=True):
            assert [step(x).tolist() for _ in range(2)] == [eager(x).tolist()] * 2


def test_dicts_and_lists_of_optimizers_take_no_attributes():
    """As PyTorch's, which are Python's own."""
    sgd = optimizer()
    for thing in (sgd.param_groups, sgd.param_groups[0], sgd.param_groups[0]["params"], sgd.state):
        with pytest.raises(AttributeError):
            thing.scale = 2.0


def subclass():
    class Scaled(tracegrad.Tensor):
        factor = 2.0

        def scale(self):
            return self * 2

        def __add__(self, other):
            return tracegrad.Tensor.__add__(self, other)

        @property
        def twice(self):
            return self * 2

    return Scaled


# An expression of a tensor `w` of that class, and a change after which it has another value.
IN_SUBCLASSES = {
    "w.scale()": lambda w: setattr(type(w), "scale", lambda self: self * 5),
    "w.twice * x": lambda w: setattr(type(w), "twice", property(lambda self: self * 5)),
    "w + x": lambda w: setattr(type(w), "__add__", lambda self, other: other * 7),
    "w.factor * x": lambda w: setattr(type(w), "factor", 5.0),
    "w.sum() * x": lambda w: setattr(type(w), "sum", lambda self: tracegrad.zeros(())),
    "x * w.sum()": lambda w: setattr(w, "sum", lambda: tracegrad.zeros(())),
    "x * w": lambda w: setattr(type(w), "__rmul__", lambda self, other: other * 9),
    "x * (w.scale() if hasattr(w, 'scale') else w)": lambda w: setattr(w, "__class__", tracegrad.Tensor),
}


@pytest.mark.parametrize("way", ("captured", "argument"))
@pytest.mark.parametrize("expression", IN_SUBCLASSES)
def test_what_changes_in_a_subclass_of_tensor_is_called(expression, way):
    w = subclass()([1.0, 2.0])
    given = (w,) if way == "argument" else ()
    space = {"w": w, "tg": tracegrad, "__name__": __name__}
    exec(f"def step(x{', w' if given else ''}):\n    return {expression}", space)
    x, step = tracegrad.ones(2), tracegrad.compile(space["step"])
    for _ in range(3):
        step(x, *given)
    assert step.way == ("replay" if expression == "w.factor * x" else "re-record")  # what computes with w is Python's
    before = space["step"](x, *given).tolist()
    IN_SUBCLASSES[expression](w)
    after = space["step"](x, *given).tolist()
    assert after != before
    assert [step(x, *given).tolist() for _ in range(3)] == [after] * 3


@pytest.mark.parametrize("kind", (tracegrad.tensor, lambda data: nn.Parameter(tracegrad.tensor(data))))
def test_an_attribute_that_hides_a_method_of_an_argument_is_called(kind):
    step, x, w = tracegrad.compile(lambda x, w: x * w.sum()), tracegrad.ones(2), kind([1.0, 2.0])
    for _ in range(3):
        step(x, w)
    assert step.way == "replay"
    w.note = "hides nothing"
    assert [step(x, w).tolist() for _ in range(2)] == [[3.0, 3.0]] * 2 and step.way == "replay"
    w.sum = lambda: tracegrad.zeros(())
    assert [step(x, w).tolist() for _ in range(3)] == [[0.0, 0.0]] * 3
    del w.sum
    assert step(x, w).tolist() == [3.0, 3.0] and step.way == "replay"


def test_no_witness_keeps_more_than_the_classes():
    gc.collect()
    registered = (tracegrad.distributions.Distribution, "_divergences")  # `register_kl` sets it, in whichever test
    assert {*classes.patches().members} <= {registered}
