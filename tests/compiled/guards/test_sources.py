"""Guard sources: each kind of place says in three ways what is there, and they agree before and after a change."""

import contextvars
import decimal
import logging
import sys
import types

import numpy as np
import pytest

import tracegrad
from tracegrad.compiled.guards import library_sources as library
from tracegrad.compiled.guards import sources
from tracegrad.compiled.guards.sources import MISSING, Source

nn, optim = tracegrad.nn, tracegrad.optim


class Thing:
    def method(self):
        return 1


class Other(Thing):
    pass


def setting(owner, name, value):
    return lambda: setattr(owner, name, value)


def entry(key, value):
    space = {"there": 1.5}
    return sources.Variable(space, key), lambda: space.update({key: value}), key


def cell():
    inner = (lambda value: lambda: value)(1.5)
    return sources.Cell(inner.__closure__[0], "value"), setting(inner.__closure__[0], "cell_contents", 2.5), "value"


def context_variable():
    variable = contextvars.ContextVar("rate", default=1.5)
    return sources.ContextVariable(variable, "rate"), lambda: variable.set(2.5), "rate"


def attribute(name="scale"):
    thing = Thing()
    return sources.Attribute(thing, name), setting(thing, name, 2.5), f"Thing.{name}"


def function():
    return types.FunctionType((lambda x=1.5: x).__code__, {}, "helper", (1.5,))


def code():
    f = function()
    return sources.FunctionCode(f), setting(f, "__code__", (lambda x=2.5: -x).__code__), "the code of helper"


def defaults():
    f = function()
    return sources.Part(f, "__defaults__"), setting(f, "__defaults__", (2.5,)), "the defaults of helper"


def attribute_count():
    thing = Thing()
    return sources.AttributeCount(thing), setting(thing, "scale", 1), "the attributes of Thing"


def class_of():
    thing = Thing()
    return sources.ClassOf(thing), setting(thing, "__class__", Other), "the class of Thing"


def new_class():
    return type("Made", (), {"method": Thing.method})


def member():
    kind = new_class()
    return sources.Member(kind, "method"), setting(kind, "method", None), "Made.method"


def member_count():
    kind = new_class()
    return sources.MemberCount(kind), setting(kind, "more", None), "the members of Made"


def loaded_module():
    name = "a_module_that_is_not_there"
    return sources.LoadedModule(name), lambda: sys.modules.update({name: sys}), f"module {name}"


def kind_of():
    source, _, _ = attribute()
    return sources.KindOf(source), setting(source.owner, "scale", []), "Thing.scale"


def library_name():
    module = types.ModuleType("a_library")
    module.rate = 1.5
    return library.LibraryName(module, "rate"), setting(module, "rate", 2.5), "a_library.rate"


def environment_name():
    module = types.ModuleType("a_library")
    module.stream = object()
    return library.EnvironmentName(module, "stream"), setting(module, "stream", object()), "a_library.stream"


def library_contents():
    module = types.ModuleType("a_library")
    module.table = [1]
    return library.LibraryContents(module, "table"), lambda: module.table.append(2), "a_library.table"


def library_member():
    kind = new_class()
    return library.LibraryMember(kind, "method"), setting(kind, "method", None), "Made.method"


def absent_names():
    module = types.ModuleType("a_library")
    source = library.AbsentNames(module, frozenset({"rate"}))
    return source, setting(module, "rate", 2.5), "attributes that a_library does not have"


def module_entries():
    module = types.ModuleType("a_library")
    return library.ModuleEntries(module), setting(module, "rate", 2.5), "the names in a_library"


def defaults_by_keyword():
    def helper(*, rate=1.5):
        return rate

    source = library.DefaultsByKeyword(helper)
    return source, lambda: helper.__kwdefaults__.update(rate=2.5), "the defaults of helper"


def generator_state():
    generator = np.random.default_rng(0)
    return library.GeneratorState(generator), generator.random, "the state of a random generator"


def tensor_classes():
    tensors = parameters(2)
    other = type("Other", (nn.Parameter,), {})
    return library.TensorClasses(tensors), setting(tensors[1], "__class__", other), "the class of a captured tensor"


def behind_proxy():
    inner = {}
    proxy = types.MappingProxyType(inner)
    return library.BehindProxy(proxy), lambda: inner.update(a=1), "what is behind a mappingproxy"


def level():
    logger = logging.getLogger("a logger of this test")
    return library.LoggerLevel(logger, logger.name), lambda: logger.setLevel(1234), f"the level of logger {logger.name}"


def decimals():
    return library.DecimalContext(), setting(decimal.getcontext(), "prec", 7), "the context of decimals"


def registrations():
    abstract = __import__("abc").ABCMeta("Abstract", (), {})
    what = "which classes are registered with abstract base classes"
    return library.Registrations(), lambda: abstract.register(new_class()), what


def tensor_attributes(**given):
    tensors = parameters(2, **given)
    what = "the attributes of captured tensors"
    return library.TensorAttributes([vars(tensor) for tensor in tensors]), setting(tensors[1], "scale", 2), what


def program_attributes(**given):
    generator = tracegrad.Generator()
    vars(generator).update(given)
    return library.ProgramAttributes(generator), setting(generator, "scale", 2), "the attributes of Generator"


def made_of():
    sgd = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    more = {"params": [tracegrad.ones(1)]}
    return library.MadeOf(sgd), lambda: sgd.add_param_group(more), "the groups or parameters of an optimizer"


def hidden_methods(tensors):
    source = library.HiddenMethods(nn.Parameter, "", frozenset({"sum"}), [vars(tensor) for tensor in tensors])
    return source, setting(tensors[0], "sum", None), "methods of Parameter that are hidden"


def parameters(count, **attributes):
    made = [nn.Parameter(tracegrad.ones(1)) for _ in range(count)]
    vars(made[0]).update(attributes)
    return made


MADE = {
    "variable": lambda: entry("there", 2.5),
    "no variable": lambda: entry("new", 2.5),
    "cell": cell, "context": context_variable, "attribute": attribute, "no attribute": attribute,
    "no name": lambda: attribute("not a name"), "keyword": lambda: attribute("class"), "code": code,
    "defaults": defaults, "attribute count": attribute_count, "class": class_of, "member": member,
    "member count": member_count, "module": loaded_module, "kind": kind_of, "library": library_name,
    "library contents": library_contents, "proxy": behind_proxy, "level": level, "decimals": decimals,
    "registrations": registrations, "program": program_attributes, "program's": lambda: program_attributes(note="a"),
    "tensors": tensor_attributes, "tensors'": lambda: tensor_attributes(note="a"), "optimizer": made_of,
    "library member": library_member, "absent": absent_names, "defaults by keyword": defaults_by_keyword,
    "all entries": module_entries, "environment": environment_name,
    "generator": generator_state, "classes": tensor_classes,
    "methods": lambda: hidden_methods(parameters(2)),
    "methods of tensors with attributes": lambda: hidden_methods(parameters(2, note="a")),
}  # fmt: skip
BY_CONTENT = (
    library.LibraryContents, library.BehindProxy, library.DecimalContext, library.MadeOf, library.ProgramAttributes,
    library.DefaultsByKeyword, library.GeneratorState, library.TensorClasses,
)  # fmt: skip


def fast(source, value):
    """What the fast check says: an error means no."""
    names = {}

    def name(thing):
        names[f"k{len(names)}"] = thing
        return f"k{len(names) - 1}"

    text = source.as_python(value, name)
    try:
        return bool(eval(text, names)) if text else True
    except Exception:
        return False


@pytest.fixture(autouse=True)
def state_of_python():
    context, modules = decimal.getcontext().copy(), set(sys.modules)
    yield
    decimal.setcontext(context)
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_the_checks_agree_before_and_after_a_change(make):
    source, change, what = make()
    value = source.now()
    assert source.describe() == what
    if not isinstance(source, BY_CONTENT):  # what is made when it is looked at is compared by what is in it
        assert source.holds(value) and fast(source, value)
    change()
    assert source.now() != value
    assert not source.holds(value) and not fast(source, value)


def test_every_kind_of_source_is_tried():
    def all_of(kind):
        return [kind, *(below for each in kind.__subclasses__() for below in all_of(each))]

    tried = {type(make()[0]) for make in MADE.values()} | {sources.Kept}  # which never changes
    public = {kind for kind in all_of(Source)[1:] if not kind.__name__.startswith("_")}
    assert {kind.__name__ for kind in public} == {kind.__name__ for kind in tried}


def test_what_is_kept_needs_no_check():
    source = sources.Kept(1.5, "factor")
    assert source.now() == 1.5 and source.describe() == "factor" and source.as_python(1.5, str) == ""


STORED = {
    "entry": lambda: entry("there", 2.5),
    "cell": cell,
    "attribute": lambda: (sources.Attribute(types.SimpleNamespace(scale=1.5), "scale"),),
    "slot": lambda: (sources.Attribute(Slotted(), "scale"),),
    "class": lambda: (sources.Attribute(WithScale, "scale"),),
}


class Slotted:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 1.5


class WithScale:
    scale = 1.5


@pytest.mark.parametrize("make", STORED.values(), ids=STORED)
def test_another_value_can_be_stored_and_taken_back(make):
    source = make()[0]
    storage = source.storage()
    assert storage.key == source.storage().key
    storage.store(7.5)
    assert source.now() == 7.5
    storage.store(1.5)
    assert source.now() == 1.5
    storage.store(7.5)
    source.rebind(1.5)
    assert source.now() == 1.5


def test_nothing_is_stored_where_there_is_nothing():
    assert entry("new", 1)[0].storage() is None
    assert attribute()[0].storage() is None
    assert MISSING is attribute()[0].now()


LAYERS = {
    "p": (lambda: nn.Dropout(0.5), (0.5, 0.25, 0.1, 0.4)),
    "negative_slope": (lambda: nn.LeakyReLU(0.1), (0.1, 0.2, 0.3, -0.1)),
    "momentum": (lambda: nn.BatchNorm1d(4), (0.1, 0.2, None, 0.3)),
    "eps": (lambda: nn.LayerNorm(4), (1e-5, 1e-3, 0.1)),
    "threshold": (lambda: nn.Softplus(), (20.0, 1.0, 0.1)),
    "dim": (lambda: nn.Softmax(1), (1, 0, -1)),
    "inplace": (lambda: nn.ReLU(), (False, True)),
    "start_dim": (lambda: nn.Flatten(0), (0, 1)),
    "reduction": (lambda: nn.MSELoss(), ("mean", "sum")),
}


def outputs_with(layer, name, values, compiled):
    tracegrad.manual_seed(0)

    def step(x):
        return layer(x, -x).sum() if isinstance(layer, nn.MSELoss) else layer(x * 1.0).flatten()[:3].sum()

    serve, found, ways = tracegrad.compile(step) if compiled else step, [], set()
    for number in range(3):
        for value in values:
            setattr(layer, name, value)
            found.append(serve(tracegrad.linspace(-2, 2, 20).reshape(5, 4) * (number + 1)).item())
            ways.add(getattr(serve, "way", ""))
    return found, ways


@pytest.mark.parametrize("name", LAYERS)
def test_options_of_layers_are_guarded_as_attributes(name):
    make, values = LAYERS[name]
    eager, _ = outputs_with(make(), name, values, compiled=False)
    compiled, ways = outputs_with(make(), name, values, compiled=True)
    assert compiled == pytest.approx(eager, rel=1e-5, abs=1e-6)
    assert ways == {"eager", "replay"}
