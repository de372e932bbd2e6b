"""Traps of Python: values that hide where a recording might not look, each changed between or within the calls."""

import abc
import collections
import contextlib
import contextvars
import dataclasses
import enum
import functools
import operator
import random
import sys
import threading
import types
import weakref

import numpy as np
import pytest
from semantics.table import Section
from side_by_side import Program, batches, ramp

ask = Section("Traps: Python")
SCALE = 1.0
SPACE = types.SimpleNamespace()


def set_scale(value):
    global SCALE
    SCALE = value


def switched(tg, step, change, state=tuple, before=2.0, later=5.0):
    """``step(x)`` after ``change(value)``: `later` before calls 3 and 4, `before` otherwise."""
    return Program(step, batches(tg, 3), state, lambda i: change(later if i in (3, 4) else before))


def trap(make):
    return ask.either(calls=6)(make)


@trap
def lru_cache(tg):
    """Is a cached function, whose cache is cleared, called again?"""

    @functools.lru_cache
    def scale():
        return SCALE

    def change(value):
        set_scale(value)
        scale.cache_clear()

    return switched(tg, lambda x: x * scale(), change)


@trap
def lru_cache_that_is_stale(tg):
    """Does a cache that is stale in eager mode stay just as stale?"""

    @functools.lru_cache
    def scale(key):
        return SCALE

    return switched(tg, lambda x: x * scale("key"), set_scale)


@trap
def lru_cache_of_tensors(tg):
    """Is a tensor that a cached function made at the first call that tensor from then on?"""

    @functools.lru_cache
    def table():
        return tg.rand(3)

    return Program(lambda x: x * table(), batches(tg, 3), table)


@trap
def cached_property(tg):
    """Is a cached property, deleted in between, computed again?"""

    class Config:
        @functools.cached_property
        def scale(self):
            return SCALE

    config = Config()

    def change(value):
        set_scale(value)
        config.__dict__.pop("scale", None)

    return switched(tg, lambda x: x * config.scale, change)


@trap
def cached_property_of_a_module(tg):
    """Is a cached property of a module that holds a tensor the tensor of the first call?"""

    class Model(tg.nn.Module):
        @functools.cached_property
        def mask(self):
            return tg.rand(3)

    model = Model()
    return Program(lambda x: x * model.mask, batches(tg, 3), lambda: model.mask)


@trap
def mutable_default(tg):
    """Does a mutable default argument remember?"""

    def step(x, memo=[]):  # noqa: B006
        memo.append(len(memo))
        return x * len(memo)

    return Program(step, batches(tg, 3))


@trap
def default_argument_replaced(tg):
    """Are defaults that are replaced on the function seen?"""

    def step(x, scale=2.0):
        return x * scale

    def change(value):
        step.__defaults__ = (value,)

    return switched(tg, step, change)


@trap
def keyword_default_of_a_helper_replaced(tg):
    """Are keyword defaults of a helper, changed in place, seen?"""

    def helper(x, *, scale=2.0):
        return x * scale

    return switched(tg, lambda x: helper(x), lambda value: helper.__kwdefaults__.update(scale=value))


@trap
def class_attribute_shadowed(tg):
    """Is an instance attribute that comes to shadow a class attribute seen, and its removal?"""

    class Config:
        scale = 2.0

    config = Config()

    def change(value):
        config.__dict__.pop("scale", None)
        if value != 2.0:
            config.scale = value

    return switched(tg, lambda x: x * config.scale, change)


@trap
def base_class_attribute(tg):
    """Is a changed attribute of a base class of a base class seen?"""

    class Base:
        scale = 2.0

    class Middle(Base):
        pass

    class Config(Middle):
        pass

    config = Config()
    return switched(tg, lambda x: x * config.scale, lambda value: setattr(Base, "scale", value))


@trap
def class_of_an_object_replaced(tg):
    """Is an object whose __class__ is replaced asked anew?"""

    class One:
        def scale(self):
            return 2.0

    class Other:
        def scale(self):
            return 5.0

    thing = One()

    def change(value):
        thing.__class__ = One if value == 2.0 else Other

    return switched(tg, lambda x: x * thing.scale(), change)


@trap
def property_with_a_counter(tg):
    """Does a property that counts its reads count?"""

    class Config:
        reads = 0

        @property
        def scale(self):
            self.reads += 1
            return self.reads

    config = Config()
    return Program(lambda x: x * config.scale, batches(tg, 3), lambda: config.reads)


@trap
def dynamic_attribute(tg):
    """Is an attribute that __getattr__ makes up asked anew?"""
    values = {"scale": 2.0}

    class Config:
        def __getattr__(self, name):
            try:
                return values[name]
            except KeyError:
                raise AttributeError(name) from None

    config = Config()
    return switched(tg, lambda x: x * config.scale, lambda value: values.update(scale=value))


@trap
def descriptor(tg):
    """Is what a descriptor of the user's gives asked anew?"""
    values = weakref.WeakKeyDictionary()

    class Field:
        def __get__(self, instance, owner=None):
            return values[instance]

        def __set__(self, instance, value):
            values[instance] = value

    class Config:
        scale = Field()

    config = Config()
    return switched(tg, lambda x: x * config.scale, lambda value: setattr(config, "scale", value))


@trap
def slots(tg):
    """Is a changed slot seen?"""

    class Config:
        __slots__ = ("__weakref__", "scale")

    config = Config()
    return switched(tg, lambda x: x * config.scale, lambda value: setattr(config, "scale", value))


@trap
def metaclass_property(tg):
    """Is a property of a metaclass asked anew?"""

    class Meta(type):
        @property
        def scale(cls):
            return SCALE

    class Config(metaclass=Meta):
        pass

    return switched(tg, lambda x: x * Config.scale, set_scale)


@trap
def operators_of_an_object(tg):
    """Are __mul__, __contains__, __bool__ and __len__ of an object that change their answer asked anew?"""

    class Bag:
        size = 2

        def __len__(self):
            return self.size

        def __contains__(self, key):
            return key < self.size

        def __rmul__(self, x):
            return x * self.size

    bag = Bag()

    def step(x):
        x = x * 3 if 3 in bag else x
        return tg.stack([x] * len(bag)).sum(0) + (1 if bag else 2)

    return switched(tg, step, lambda value: setattr(bag, "size", int(value)))


@trap
def call_operator(tg):
    """Is a __call__ that is replaced on the class called?"""

    class Layer:
        def __call__(self, x):
            return x * 2

    layer = Layer()

    def change(value):
        Layer.__call__ = lambda self, x: x * value

    return switched(tg, lambda x: layer(x), change)


@trap
def equality_of_an_object(tg):
    """Is an __eq__ whose answer changes asked anew?"""

    class Key:
        def __eq__(self, other):
            return SCALE == 2.0

        __hash__ = None

    key = Key()
    return switched(tg, lambda x: x * 2 if key == 1 else x * 3, set_scale)


@trap
def abstract_instance_check(tg):
    """Is a class that is registered as a virtual subclass between calls seen by isinstance?"""

    class Scaled(abc.ABC):  # noqa: B024
        pass

    class Thing:
        pass

    thing = Thing()

    def between(i):
        if i == 3:
            Scaled.register(Thing)

    return Program(lambda x: x * 2 if isinstance(thing, Scaled) else x, batches(tg, 3), tuple, between)


@trap
def argument_of_a_subclass(tg):
    """Is a Parameter as an argument told from a Tensor?"""

    def step(x):
        return x.detach() * 2 if isinstance(x, tg.nn.Parameter) else x.detach() * 3

    def args(i):
        return (tg.nn.Parameter(ramp(tg, 3)) if i in (3, 4) else ramp(tg, 3).requires_grad_(),)

    return Program(step, args)


@trap
def single_dispatch(tg):
    """Is a function that is registered with singledispatch between calls used?"""

    @functools.singledispatch
    def scaled(kind, x):
        return x * 2

    def between(i):
        if i == 3:
            scaled.register(str)(lambda kind, x: x * 5)

    return Program(lambda x: scaled("kind", x), batches(tg, 3), tuple, between)


@trap
def generator_expression_over_a_list(tg):
    """Is a list under a generator expression, changed in place, gone through anew?"""
    scales = [1.0, 2.0]
    return switched(
        tg, lambda x: sum(x * s for s in scales if s > 1.5), lambda value: scales.__setitem__(0, value), lambda: scales
    )


@trap
def comprehension_in_a_class(tg):
    """Is a variable that a nested comprehension closes over seen?"""
    scale = 2.0

    def change(value):
        nonlocal scale
        scale = value

    return switched(tg, lambda x: tg.stack([[y * scale for y in x][k] for k in range(3)]), change)


@trap
def late_binding_of_a_loop(tg):
    """Do closures that are made in a loop share the loop's last value?"""
    layers = [lambda x: x * k for k in range(3)]  # noqa: B023
    return Program(lambda x: [layer(x) for layer in layers], batches(tg, 3))


@trap
def walrus(tg):
    """Does a walrus at the level of the module's globals carry over?"""
    space = {"total": 0}
    exec("def step(x):\n    global total\n    return x * (total := total + 1)", space)
    return Program(space["step"], batches(tg, 3), lambda: space["total"])


@trap
def star_arguments(tg):
    """Are *args and **kwargs of changing number and order told apart?"""

    def step(*tensors, **named):
        return [t * (k + 1) for k, t in enumerate((*tensors, *named.values()))]

    def kwargs(i):
        names = ("a", "b") if i % 2 else ("b", "a")
        return {name: ramp(tg, 3) * n for n, name in enumerate(names, 1)}

    return Program(step, lambda i: (ramp(tg, 3),) * (1 + i // 3), kwargs=kwargs)


@trap
def order_of_a_dict(tg):
    """Is the insertion order of a dict that is captured, and of one that is passed, believed?"""
    layers = {"a": 1.0, "b": 2.0}

    def between(i):
        if i in (2, 4):
            layers["a"] = layers.pop("a")
        if i == 3:
            layers["b"] = layers.pop("b")

    def step(sample):
        x = 0
        for k, (name, t) in enumerate(sample.items(), 1):
            x = x * 2 + t * k * len(name)
        for v in layers.values():
            x = x * v + 1
        return x

    def args(i):
        pairs = [("x", ramp(tg, 3)), ("yy", ramp(tg, 3) * 2)]
        return (dict(pairs if i % 2 else pairs[::-1]),)

    return Program(step, args, tuple, between)


@trap
def set_membership(tg):
    """Is membership in a set that changes asked anew?"""
    frozen = {"head"}

    def between(i):
        frozen.clear()
        frozen.update({"body"} if i in (3, 4) else {"head"})

    return Program(lambda x: x * 2 if "head" in frozen else x, batches(tg, 3), tuple, between)


@trap
def frozen_set_rebound_in_place(tg):
    """Is `names |= {...}` on a captured frozenset, a rebinding, seen?"""
    names = frozenset({"a"})

    def between(i):
        nonlocal names
        if i == 3:
            names |= {"b"}

    return Program(lambda x: x * len(names), batches(tg, 3), tuple, between)


@trap
def enum_switched(tg):
    """Is an enum member in a variable that becomes another one seen?"""
    kind = enum.Enum("Kind", "SUM MEAN")
    box = [kind.SUM]

    def between(i):
        box[0] = kind.MEAN if i in (3, 4) else kind.SUM

    return Program(lambda x: x.sum() if box[0] is kind.SUM else x.mean(), batches(tg, 3), tuple, between)


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A frozen configuration."""

    scale: float = 2.0
    inner: tuple[str, ...] = ("sum",)


@trap
def frozen_dataclass_replaced(tg):
    """Is a frozen dataclass that is replaced by dataclasses.replace seen?"""
    box = {"config": Frozen()}

    def change(value):
        box["config"] = dataclasses.replace(box["config"], scale=value)

    return switched(tg, lambda x: getattr(x * box["config"].scale, box["config"].inner[0])(), change)


@trap
def dataclass_as_an_argument(tg):
    """Is an equal but other dataclass as an argument read?"""
    return Program(lambda x, config: x * config.scale, lambda i: (ramp(tg, 3), Frozen(float(i // 2))))


@trap
def dataclass_of_tensors_as_an_argument(tg):
    """Are the tensors in an object that is passed this call's?"""
    return Program(lambda b: b.x * 2 + b.y, lambda i: (types.SimpleNamespace(x=ramp(tg, 3) * i, y=ramp(tg, 3)),))


@trap
def named_tuple_of_tensors(tg):
    """Are the tensors in a named tuple this call's, and is it rebuilt on return?"""
    pair = collections.namedtuple("Pair", "x y")
    return Program(lambda p: pair(p.y * 2, p.x), lambda i: (pair(ramp(tg, 3) * i, ramp(tg, 3)),))


@trap
def context_variable(tg):
    """Is a context variable that is set, reset and copied asked anew?"""
    scale = contextvars.ContextVar("scale", default=2.0)
    tokens = []

    def between(i):
        if i == 3:
            tokens.append(scale.set(5.0))
        if i == 5:
            scale.reset(tokens.pop())

    return Program(lambda x: x * scale.get(), batches(tg, 3), tuple, between)


@trap
def thread_local(tg):
    """Is a thread-local value asked anew?"""
    local = threading.local()
    return switched(tg, lambda x: x * local.scale, lambda value: setattr(local, "scale", value))


@trap
def weak_reference_that_dies(tg):
    """Is a weak reference that is dead by now seen to be dead?"""

    class Thing:
        scale = 5.0

    things = [Thing()]
    reference = weakref.ref(things[0])

    def between(i):
        if i == 3:
            things.clear()

    def step(x):
        thing = reference()
        return x if thing is None else x * thing.scale

    return Program(step, batches(tg, 3), tuple, between)


@trap
def finaliser_within_the_call(tg):
    """Does an object that dies within the call run its __del__ at each call?"""
    died = []

    class Guard:
        def __del__(self):
            died.append(1)

    def step(x):
        guard = Guard()
        y = x * 2
        del guard
        return y

    return Program(step, batches(tg, 3), lambda: died)


@trap
def decorator_that_counts(tg):
    """Does a decorator that counts calls count?"""

    def counted(function):
        @functools.wraps(function)
        def inner(*args):
            inner.calls += 1
            return function(*args) * inner.calls

        inner.calls = 0
        return inner

    @counted
    def helper(x):
        return x * 2

    return Program(lambda x: helper(x), batches(tg, 3), lambda: helper.calls)


@trap
def function_attribute(tg):
    """Is an attribute of the function itself, changed between calls, seen?"""

    def step(x):
        return x * step.scale

    step.scale = 2.0
    return switched(tg, step, lambda value: setattr(step, "scale", value))


@trap
def method_patched_on_the_instance(tg):
    """Is a method that is patched on the instance, and unpatched, seen?"""

    class Scaler:
        def scale(self, x):
            return x * 2

    scaler = Scaler()

    def change(value):
        scaler.__dict__.pop("scale", None)
        if value != 2.0:
            scaler.scale = lambda x: x * value

    return switched(tg, lambda x: scaler.scale(x), change)


@trap
def static_method_patched(tg):
    """Are a static method and a class method that are patched on the class seen?"""

    class Scaler:
        @staticmethod
        def one(x):
            return x * 2

        @classmethod
        def other(cls, x):
            return x + 1

    def change(value):
        Scaler.one = staticmethod(lambda x: x * value)
        Scaler.other = classmethod(lambda cls, x: x + value)

    return switched(tg, lambda x: Scaler.one(x) + Scaler.other(x), change)


@trap
def function_of_the_library_patched(tg):
    """Is a function of the library that a test patches seen?"""
    original = tg.nn.functional.relu

    def change(value):
        tg.nn.functional.relu = original if value == 2.0 else tg.tanh

    program = switched(tg, lambda x: tg.nn.functional.relu(x), change)
    program.after = lambda i, out: change(2.0)
    return program


@trap
def module_attribute_patched(tg):
    """Is an attribute of a Python module that the step names seen?"""
    module = types.ModuleType("semantics_settings")
    sys.modules["semantics_settings"] = module
    return switched(tg, lambda x: x * module.SCALE, lambda value: setattr(module, "SCALE", value))


@trap
def imported_inside(tg):
    """Is a module that is imported inside the step the one of this call?"""
    module = types.ModuleType("semantics_settings")

    def change(value):
        module.SCALE = value
        sys.modules["semantics_settings"] = module

    def step(x):
        from semantics_settings import SCALE as scale  # noqa: PLC0415

        return x * scale

    return switched(tg, step, change)


@trap
def read_through_operator(tg):
    """Are values that attrgetter, itemgetter and methodcaller fetch seen?"""
    SPACE.inner = types.SimpleNamespace(scale=2.0, table={"shift": 1.0})
    scale, shift = operator.attrgetter("inner.scale"), operator.itemgetter("shift")

    def change(value):
        SPACE.inner.scale = value
        SPACE.inner.table["shift"] = value

    return switched(tg, lambda x: x * scale(SPACE) + shift(SPACE.inner.table), change)


@trap
def read_through_map_and_reduce(tg):
    """Are values behind map, filter, zip and reduce seen?"""
    scales = [2.0, 3.0]

    def step(x):
        return functools.reduce(operator.mul, map(operator.neg, filter(None, scales)), x)

    return switched(tg, step, lambda value: scales.__setitem__(1, value))


@trap
def read_through_locals_and_eval(tg):
    """Is a value that eval finds by a text that changes seen?"""
    text = "2.0"

    def change(value):
        nonlocal text
        text = f"{value} + 0.0"

    return switched(tg, lambda x: x * eval(text), change)


@trap
def chain_map(tg):
    """Is a key that comes to shadow another in a ChainMap seen?"""
    defaults, own = {"scale": 2.0}, {}
    chain = collections.ChainMap(own, defaults)

    def change(value):
        own.clear()
        if value != 2.0:
            own["scale"] = value

    return switched(tg, lambda x: x * chain["scale"], change)


@trap
def default_dict(tg):
    """Does a defaultdict that the step only reads gain its entry?"""
    table = collections.defaultdict(lambda: 2.0)
    return Program(lambda x: x * table["scale"], batches(tg, 3), lambda: dict(table))


@trap
def mapping_proxy(tg):
    """Is a change behind a read-only mapping seen?"""
    table = {"scale": 2.0}
    proxy = types.MappingProxyType(table)
    return switched(tg, lambda x: x * proxy["scale"], lambda value: table.update(scale=value))


@trap
def memory_view(tg):
    """Is a change behind a memoryview seen?"""
    memory = bytearray([2])
    view = memoryview(memory)
    return switched(tg, lambda x: x * view[0], lambda value: memory.__setitem__(0, int(value)))


@trap
def numpy_array_of_objects(tg):
    """Is a change in a numpy array of objects seen?"""
    table = np.array([2.0, None], dtype=object)
    return switched(tg, lambda x: x * table[0], lambda value: table.__setitem__(0, value))


@trap
def numpy_structured_scalar(tg):
    """Is a change of a view of a numpy array that is captured by a scalar view seen?"""
    table = np.zeros(2)
    view = table[1:]
    return switched(tg, lambda x: x * float(view[0]), lambda value: table.__setitem__(1, value))


@trap
def subclass_of_dict(tg):
    """Is a value in a user's subclass of dict, list and str seen?"""

    class Config(dict):
        def __getattr__(self, name):
            return self[name]

    config = Config(scale=2.0)
    return switched(tg, lambda x: x * config.scale, lambda value: config.update(scale=value))


@trap
def instances_by_turns(tg):
    """Are objects that are passed by turns, equal by ==, told apart?"""

    @dataclasses.dataclass
    class Config:
        name: str
        scale: float = dataclasses.field(compare=False)

    configs = [Config("same", 2.0), Config("same", 5.0)]
    return Program(lambda x, config: x * config.scale, lambda i: (ramp(tg, 3), configs[i % 2]))


@trap
def identity_reused(tg):
    """Is an object that dies and whose address another one takes told from it?"""
    seen = []

    def args(i):
        thing = types.SimpleNamespace(scale=float(i))
        seen.append(None)
        return ramp(tg, 3), thing

    return Program(lambda x, thing: x * thing.scale, args, lambda: seen)


@trap
def identity_as_a_number(tg):
    """Does id() of an argument compare as in eager mode?"""
    kept = ramp(tg, 3)
    key = id(kept)
    return Program(lambda x: x * 2 if id(x) == key else x * 3, lambda i: (kept if i in (3, 4) else ramp(tg, 3),))


@trap
def random_of_python_reseeded(tg):
    """Does Python's random go on within and between the calls?"""
    drawn = []
    return Program(
        lambda x: x * random.choice([2.0, 3.0, 4.0]),
        batches(tg, 3),
        lambda: drawn,
        lambda i: drawn.append(random.random()),
    )


@trap
def random_of_numpy(tg):
    """Does numpy's global generator go on?"""
    return Program(lambda x: x * np.random.rand() + float(np.random.randint(5)), batches(tg, 3))


@trap
def generator_of_numpy_in_an_object(tg):
    """Does a numpy Generator that an object holds go on?"""

    class Noise:
        def __init__(self):
            self.generator = np.random.default_rng(0)

        def draw(self):
            return float(self.generator.random())

    noise = Noise()
    return Program(lambda x: x * noise.draw(), batches(tg, 3))


@trap
def exit_stack(tg):
    """Do callbacks of an ExitStack that is used inside run at each call?"""
    done = []

    def step(x):
        with contextlib.ExitStack() as stack:
            stack.callback(done.append, 1)
            stack.enter_context(tg.no_grad())
            return x * 2

    return Program(step, batches(tg, 3), lambda: done)


@trap
def suppressed_exception(tg):
    """Does contextlib.suppress hide an error at the calls where it comes?"""
    table = {"scale": 2.0}

    def between(i):
        table.pop("scale", None)
        if i not in (3, 4):
            table["scale"] = 2.0

    def step(x):
        with contextlib.suppress(KeyError):
            x = x * table["scale"]
        return x + 1

    return Program(step, batches(tg, 3), tuple, between)


@trap
def recursion(tg):
    """Is the depth of a recursion that a global sets looked at anew?"""

    def nested(x, depth):
        return x if depth == 0 else nested(x * 2, depth - 1)

    return switched(tg, lambda x: nested(x, int(SCALE)), set_scale)


@trap
def match_statement(tg):
    """Are patterns matched anew against an object that changes?"""
    box = {"config": Frozen()}
    code = (
        "def step(x):\n"
        "    match box['config']:\n"
        "        case Frozen(scale=2.0):\n            return x * 2\n"
        "        case Frozen(scale=s) if s > 4:\n            return x * s\n"
    )
    space = {"box": box, "Frozen": Frozen}
    exec(code, space)
    return switched(tg, space["step"], lambda value: box.update(config=Frozen(value)))


@trap
def string_format_of_a_number(tg):
    """Is a number that passes through a text the number of this call?"""
    return switched(tg, lambda x: x * float("%.2f" % SCALE) + len(str(SCALE)), set_scale)  # noqa: UP031


@trap
def attribute_deleted(tg):
    """Is an attribute that is deleted, so that hasattr and getattr's default answer otherwise, seen?"""
    config = types.SimpleNamespace(scale=2.0)

    def between(i):
        config.__dict__.pop("scale", None)
        if i not in (3, 4):
            config.scale = 2.0

    def step(x):
        return x * getattr(config, "scale", 7.0) + hasattr(config, "scale")

    return Program(step, batches(tg, 3), tuple, between)


@trap
def builtin_shadowed(tg):
    """Is a global that comes to shadow a builtin seen?"""
    space = {}
    exec("def step(x):\n    return x * len(x)", space)

    def between(i):
        space.pop("len", None)
        if i in (3, 4):
            space["len"] = lambda x: 7

    return Program(space["step"], batches(tg, 3), tuple, between)


@pytest.mark.parametrize("question", ask.rows())
def test_traps_python(answer, question):
    answer(question)
