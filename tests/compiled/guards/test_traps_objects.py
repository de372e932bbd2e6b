"""Traps of objects: attributes, classes, identities and lifetimes that change between or within the calls."""

import abc
import contextvars
import dataclasses
import functools
import threading
import types
import weakref

import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp, switched

ask = Section("Traps: objects")


SCALE = 1.0


def set_scale(value):
    global SCALE
    SCALE = value


def trap(make):
    return ask.either(calls=6)(make)


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


@pytest.mark.parametrize("question", ask.rows())
def test_traps_objects(answer, question):
    answer(question)
