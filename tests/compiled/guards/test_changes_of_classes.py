"""Classes and objects that change after calls were replayed: attribute protocols, metaclasses, dataclasses, enums."""

import abc
import collections
import fractions
import functools
import types
import typing
import weakref

import pytest
from compiled.changing import Programs, assert_changes_are_noticed
from side_by_side import ramp

program = Programs()


class Plain:
    """Holds what it is given."""

    def __init__(self, **given):
        vars(self).update(given)


@program
def getattr_over_a_private_dict(tg):
    class Config:
        def __init__(self):
            self._known = {"scale": 2.0}

        def __getattr__(self, name):
            return self._known[name]

    config = Config()
    return lambda x: x * config.scale, lambda v: config._known.update(scale=v)


@program
def getattr_that_counts_in_a_global_table(tg):
    table = {"scale": 2.0}

    class Config:
        __getattr__ = lambda self, name: table[name]  # noqa: E731

    config = Config()
    return lambda x: x * config.scale, lambda v: table.update(scale=v)


@program
def getattr_shadowed_by_an_attribute(tg):
    class Config:
        __getattr__ = lambda self, name: 2.0  # noqa: E731

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(config, "scale", v)


@program
def getattribute_of_a_class(tg):
    class Config:
        factor = 2.0

        def __getattribute__(self, name):
            return object.__getattribute__(self, "factor") if name == "scale" else object.__getattribute__(self, name)

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(Config, "factor", v)


@program
def getattribute_that_is_set_later(tg):
    class Config:
        scale = 2.0

    config = Config()

    def change(v):
        if v == 5.0:
            Config.__getattribute__ = lambda self, name: v if name == "scale" else object.__getattribute__(self, name)
        elif "__getattribute__" in vars(Config):
            del Config.__getattribute__

    return lambda x: x * config.scale, change


@program
def descriptor_with_its_own_state(tg):
    class Scale:
        value = 2.0

        def __get__(self, instance, owner):
            return self.value

    class Config:
        scale = Scale()

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(vars(Config)["scale"], "value", v)


@program
def descriptor_over_a_weak_dictionary(tg):
    class Scale:
        def __init__(self):
            self.values = weakref.WeakKeyDictionary()

        def __get__(self, instance, owner):
            return self.values[instance]

        def __set__(self, instance, value):
            self.values[instance] = value

    class Config:
        scale = Scale()

    config = Config()
    config.scale = 2.0
    return lambda x: x * config.scale, lambda v: setattr(config, "scale", v)


@program
def descriptor_by_its_name(tg):
    class Scale:
        def __set_name__(self, owner, name):
            self.key = "_" + name

        def __get__(self, instance, owner):
            return getattr(instance, self.key)

    class Config:
        scale = Scale()
        _scale, _other = 2.0, 5.0

    config, keys = Config(), {2.0: "_scale", 5.0: "_other"}
    return lambda x: x * config.scale, lambda v: setattr(vars(Config)["scale"], "key", keys[v])


@program
def descriptor_without_set_that_is_shadowed(tg):
    class Scale:
        def __get__(self, instance, owner):
            return 2.0

    class Config:
        scale = Scale()

    config = Config()
    return lambda x: x * config.scale, lambda v: vars(config).update(scale=v)


@program
def metaclass_getattr(tg):
    table = {"scale": 2.0}

    class Meta(type):
        def __getattr__(cls, name):
            return table[name]

    class Config(metaclass=Meta):
        pass

    return lambda x: x * Config.scale, lambda v: table.update(scale=v)


@program
def metaclass_call(tg):
    class Meta(type):
        factor = 2.0

        def __call__(cls, *args):
            made = super().__call__(*args)
            made.scale = cls.factor
            return made

    class Config(metaclass=Meta):
        pass

    return lambda x: x * Config().scale, lambda v: setattr(Meta, "factor", v)


@program
def metaclass_replaced(tg):
    class Meta(type):
        scale = 2.0

    class Other(type):
        scale = 5.0

    class Config(metaclass=Meta):
        pass

    kinds = {2.0: Meta, 5.0: Other}
    return lambda x: x * Config.scale, lambda v: setattr(Config, "__class__", kinds[v])


@program
def metaclass_item(tg):
    class Meta(type):
        table: typing.ClassVar = {"scale": 2.0}

        def __getitem__(cls, name):
            return cls.table[name]

    class Config(metaclass=Meta):
        pass

    return lambda x: x * Config["scale"], lambda v: Meta.table.update(scale=v)


@program
def registry_of_subclasses(tg):
    class Base:
        known: typing.ClassVar = []

        def __init_subclass__(cls):
            Base.known.append(cls)

    type("First", (Base,), {"scale": 2.0})
    return lambda x: x * sum(k.scale for k in Base.known), lambda v: type("Other", (Base,), {"scale": v})


@program
def subclasses_asked_of_the_class(tg):
    class Base:
        pass

    kept = [type("First", (Base,), {})]
    return lambda x: x * len(Base.__subclasses__()), lambda v: kept.append(type("Other", (Base,), {}))


@program
def class_decorator(tg):
    def scaled(kind):
        kind.scale = property(lambda self: self._scale)
        return kind

    @scaled
    class Config:
        _scale = 2.0

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(Config, "_scale", v)


@program
def cached_property_computed_again(tg):
    class Config:
        factor = 2.0

        @functools.cached_property
        def scale(self):
            return self.factor

    config = Config()
    config.scale  # noqa: B018

    def change(v):
        Config.factor = v
        vars(config).pop("scale", None)

    return lambda x: x * config.scale, change


@program
def cached_property_in_the_dict(tg):
    class Config:
        @functools.cached_property
        def scale(self):
            return 2.0

    config = Config()
    return lambda x: x * config.scale, lambda v: vars(config).update(scale=v)


@program
def property_over_another_object(tg):
    inner = Plain(scale=2.0)

    class Config:
        scale = property(lambda self: inner.scale)

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(inner, "scale", v)


@program
def dict_of_an_object(tg):
    config = Plain(scale=2.0)
    return lambda x: x * config.scale, lambda v: config.__dict__.update(scale=v)


@program
def dict_of_an_object_replaced(tg):
    config = Plain(scale=2.0)
    return lambda x: x * config.scale, lambda v: setattr(config, "__dict__", {"scale": v})


@program
def class_of_an_object(tg):
    class First:
        scale = 2.0

    class Second:
        scale = 5.0

    thing, kinds = First(), {2.0: First, 5.0: Second}
    return lambda x: x * thing.scale, lambda v: setattr(thing, "__class__", kinds[v])


@program
def class_of_an_object_in_a_list(tg):
    class First:
        def __call__(self, x):
            return x * 2.0

    class Second:
        def __call__(self, x):
            return x * 5.0

    things, kinds = [First()], {2.0: First, 5.0: Second}

    def step(x):
        for thing in things:
            x = thing(x)
        return x

    return step, lambda v: setattr(things[0], "__class__", kinds[v])


def with_class(name, make, of):
    """A program in which the class of something becomes another one, with another ``scale()``."""

    def maker(tg):
        base = of(tg)
        kinds = {
            v: type(f"Kind{int(v)}", (base,), {"scale": lambda self, v=v: v, "__call__": lambda self, *_, v=v: v})
            for v in (2.0, 5.0)
        }
        thing = make(tg, kinds[2.0])
        return lambda x: x * thing.scale(), lambda v: setattr(thing, "__class__", kinds[v])

    maker.__name__ = f"class_of_{name}"
    program(maker)


with_class("a_list", lambda tg, kind: kind(), lambda tg: list)
with_class("a_dict", lambda tg, kind: kind(), lambda tg: dict)
with_class("a_set", lambda tg, kind: kind(), lambda tg: set)
with_class("an_ordered_dict", lambda tg, kind: kind(), lambda tg: collections.OrderedDict)
with_class("a_deque", lambda tg, kind: kind(), lambda tg: collections.deque)
with_class("an_exception", lambda tg, kind: kind(), lambda tg: ValueError)
with_class("a_partial", lambda tg, kind: kind(max, 1), lambda tg: functools.partial)
with_class("a_module", lambda tg, kind: kind("changing_module"), lambda tg: types.ModuleType)
with_class("a_class", lambda tg, kind: kind("Made", (), {}), lambda tg: type)
with_class("a_namespace", lambda tg, kind: kind(), lambda tg: types.SimpleNamespace)
with_class("a_fraction", lambda tg, kind: kind(1), lambda tg: fractions.Fraction)
with_class("a_user_dict", lambda tg, kind: kind(), lambda tg: collections.UserDict)
with_class("a_layer", lambda tg, kind: kind(), lambda tg: tg.nn.Identity)
with_class("an_optimizer", lambda tg, kind: kind([tg.ones(2, requires_grad=True)], 0.1), lambda tg: tg.optim.SGD)
with_class("a_dataset", lambda tg, kind: kind(tg.ones(2)), lambda tg: tg.utils.data.TensorDataset)
with_class("a_sampler", lambda tg, kind: kind([1]), lambda tg: tg.utils.data.SequentialSampler)
with_class("a_tensor", lambda tg, kind: tg.ones(2).as_subclass(kind), lambda tg: tg.Tensor)


@program
def class_of_a_plain_tensor(tg):
    class Scaled(tg.Tensor):
        scale = 5.0

    w, kinds = ramp(tg, 3), {2.0: tg.Tensor, 5.0: Scaled}
    return lambda x: x * getattr(w, "scale", 2.0), lambda v: setattr(w, "__class__", kinds[v])


@program
def class_of_a_plain_tensor_that_is_asked(tg):
    class Scaled(tg.Tensor):
        pass

    w, kinds = ramp(tg, 3), {2.0: tg.Tensor, 5.0: Scaled}
    return lambda x: x * (5.0 if type(w) is Scaled else 2.0), lambda v: setattr(w, "__class__", kinds[v])


@program
def class_of_a_computing_tensor(tg):
    class Scaled(tg.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            args = (args[0], 5.0) if len(args) == 2 else args
            return super().__torch_function__(function, kinds, args, kwargs or {})

    w, kinds = ramp(tg, 3), {2.0: tg.Tensor, 5.0: Scaled}
    return lambda x: (x * w).sum(), lambda v: setattr(w, "__class__", kinds[v])


@program
def class_of_a_parameter_of_a_layer(tg):
    class Scaled(tg.nn.Parameter):
        scale = 5.0

    layer, kinds = tg.nn.Linear(3, 3), {2.0: tg.nn.Parameter, 5.0: Scaled}
    return lambda x: x * getattr(layer.weight, "scale", 2.0), lambda v: setattr(layer.weight, "__class__", kinds[v])


@program
def class_of_a_tensor_in_a_list(tg):
    class Scaled(tg.Tensor):
        pass

    tensors, kinds = [ramp(tg, 3)], {2.0: tg.Tensor, 5.0: Scaled}

    def step(x):
        return x * sum(5.0 if isinstance(t, Scaled) else 2.0 for t in tensors)

    return step, lambda v: setattr(tensors[0], "__class__", kinds[v])


@program
def bases_of_a_class(tg):
    class First:
        scale = 2.0

    class Second:
        scale = 5.0

    class Config(First):
        pass

    config, kinds = Config(), {2.0: First, 5.0: Second}
    return lambda x: x * config.scale, lambda v: setattr(Config, "__bases__", (kinds[v],))


@program
def virtual_subclass(tg):
    class Scaled(abc.ABC):  # noqa: B024
        pass

    class Thing:
        pass

    thing = Thing()
    return lambda x: x * (5.0 if isinstance(thing, Scaled) else 2.0), lambda v: Scaled.register(Thing)


@program
def instance_check_of_a_metaclass(tg):
    class Meta(type):
        names = ("Other",)

        def __instancecheck__(cls, instance):
            return type(instance).__name__ in Meta.names

    class Scaled(metaclass=Meta):
        pass

    thing, names = Plain(), {2.0: ("Other",), 5.0: ("Plain",)}
    return lambda x: x * (5.0 if isinstance(thing, Scaled) else 2.0), lambda v: setattr(Meta, "names", names[v])


@program
def protocol_checked_when_it_runs(tg):
    @typing.runtime_checkable
    class HasScale(typing.Protocol):
        scale: float

    thing = Plain()
    return lambda x: x * (5.0 if isinstance(thing, HasScale) else 2.0), lambda v: setattr(thing, "scale", v)


@program
def slot_descriptor_replaced(tg):
    class Config:
        __slots__ = ("scale",)

    config = Config()
    config.scale = 2.0
    return lambda x: x * config.scale, lambda v: setattr(Config, "scale", property(lambda self: v))


@program
def slot_by_its_descriptor(tg):
    class Config:
        __slots__ = ("scale",)

    config = Config()
    config.scale = 2.0
    store = vars(Config)["scale"].__set__
    return lambda x: x * config.scale, lambda v: store(config, v)


@program
def slot_that_is_filled_later(tg):
    class Config:
        __slots__ = ("scale",)

    config = Config()
    return lambda x: x * (config.scale if hasattr(config, "scale") else 2.0), lambda v: setattr(config, "scale", v)


@program
def slot_that_is_emptied(tg):
    class Config:
        __slots__ = ("scale",)

    config = Config()
    change = {2.0: lambda: setattr(config, "scale", 2.0), 5.0: lambda: delattr(config, "scale")}
    change[2.0]()
    return lambda x: x * getattr(config, "scale", 5.0), lambda v: change[v]()


@program
def slot_of_a_base_that_is_filled_later(tg):
    class Base:
        __slots__ = ("__scale",)

        def scale(self):
            try:
                return self.__scale
            except AttributeError:
                return 2.0

    class Config(Base):
        __slots__ = ()

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(config, "_Base__scale", v)


@program
def private_slot_by_a_method(tg):
    class Config:
        __slots__ = ("__scale",)

        def __init__(self):
            self.__scale = 2.0

        def scale(self):
            return self.__scale

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(config, "_Config__scale", v)


@program
def attribute_with_a_mangled_name(tg):
    class Config:
        def __init__(self):
            self.__scale = 2.0

        def scale(self):
            return self.__scale

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(config, "_Config__scale", v)


@program
def super_through_a_base(tg):
    class Base:
        def scale(self):
            return 2.0

    class Config(Base):
        def scale(self):
            return super().scale()

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(Base, "scale", lambda self: v)


@program
def base_inserted_by_multiple_inheritance(tg):
    class Base:
        scale = 2.0

    class Left(Base):
        pass

    class Config(Left, Base):
        pass

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(Left, "scale", v)


@program
def class_level_cache(tg):
    class Config:
        cache: typing.ClassVar = {}

        @classmethod
        def scale(cls, key):
            if key not in cls.cache:
                cls.cache[key] = 2.0
            return cls.cache[key]

    Config.scale("a")
    return lambda x: x * Config.scale("a"), lambda v: Config.cache.update(a=v)


@program
def missing_of_a_dict_class(tg):
    class Table(dict):
        default = 2.0

        def __missing__(self, key):
            return self.default

    table = Table()
    return lambda x: x * table["scale"], lambda v: setattr(table, "default", v)


@program
def class_item(tg):
    class Config:
        scale = 2.0

        def __class_getitem__(cls, name):
            return getattr(cls, name)

    return lambda x: x * Config["scale"], lambda v: setattr(Config, "scale", v)


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_classes(tg, make):
    assert_changes_are_noticed(tg, make)
