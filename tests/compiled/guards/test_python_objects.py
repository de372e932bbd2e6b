"""Methods, functions, classes and modules that change between the calls: each program does the same eager and compiled.

Each program is ``step`` and ``change(value)``, which is called with 2.0 and, before calls 3 and 4, with 5.0.
"""

import builtins
import functools
import logging
import math
import operator
import re
import sys
import types
import weakref
from unittest import mock

import numpy as np
import pytest
from side_by_side import Program, ramp, weight

PROGRAMS = []
LOG = logging.getLogger("python_objects")


def program(make):
    PROGRAMS.append(make)
    return make


@program
def property_on_the_class(tg):
    class Config:
        scale = property(lambda self: 2.0)

    config = Config()
    return lambda x: x * config.scale, lambda value: setattr(Config, "scale", property(lambda self: value))


@program
def class_method_of_a_base(tg):
    class Base:
        @classmethod
        def scale(cls):
            return 2.0

    class Config(Base):
        pass

    config = Config()
    return lambda x: x * config.scale(), lambda value: setattr(Base, "scale", classmethod(lambda cls: value))


@program
def method_that_comes_to_hide_another(tg):
    class Base:
        def scale(self):
            return 2.0

    class Config(Base):
        pass

    config = Config()

    def change(value):
        if value == 5.0:
            Config.scale = lambda self: value
        elif "scale" in vars(Config):
            del Config.scale

    return lambda x: x * config.scale(), change


@program
def method_asked_through_the_class(tg):
    class Base:
        def scale(self):
            return 2.0

    class Config(Base):
        pass

    config = Config()
    return lambda x: x * Config.scale(config), lambda value: setattr(Base, "scale", lambda self: value)


@program
def code_of_a_method(tg):
    class Config:
        def scale(self):
            return 2.0

    codes = {2.0: Config.scale.__code__, 5.0: (lambda self: 5.0).__code__}
    config = Config()
    return lambda x: x * config.scale(), lambda value: setattr(Config.scale, "__code__", codes[value])


@program
def forward_of_a_module(tg):
    class Net(tg.nn.Module):
        def forward(self, x):
            return x * 2.0

    net = Net()
    return lambda x: net(x), lambda value: setattr(Net, "forward", lambda self, x: x * value)


@program
def class_of_a_module(tg):
    class Net(tg.nn.Module):
        def forward(self, x):
            return x * 2.0

    class Other(Net):
        def forward(self, x):
            return x * 5.0

    net = Net()
    return lambda x: net(x), lambda value: setattr(net, "__class__", Net if value == 2.0 else Other)


@program
def callable_class_attribute(tg):
    class Net(tg.nn.Module):
        activation = staticmethod(tg.relu)

        def forward(self, x):
            return self.activation(x)

    net = Net()
    return lambda x: net(x), lambda value: setattr(
        Net, "activation", staticmethod(tg.relu if value == 2.0 else tg.tanh)
    )


@program
def truth_that_is_defined_later(tg):
    class Switch:
        pass

    switch = Switch()

    def change(value):
        if value == 5.0:
            Switch.__bool__ = lambda self: False
        elif "__bool__" in vars(Switch):
            del Switch.__bool__

    return lambda x: x * 2 if switch else x, change


def with_operator(name, first, other, use):
    """A class whose method `name` is `first`, and `other` later; the step is ``use(x, object)``."""

    def make(tg):
        kind = type("Operand", (), {name: first, "__module__": __name__})
        thing = kind()
        return lambda x: use(x, thing), lambda value: setattr(kind, name, first if value == 2.0 else other)

    make.__name__ = f"operator_{name.strip('_')}"
    return make


class Entered:
    """What a with block gives."""


for name, first, other, use in (
    ("__len__", lambda self: 2, lambda self: 5, lambda x, a: x * len(a)),
    ("__contains__", lambda self, k: True, lambda self, k: False, lambda x, a: x * 2 if 1 in a else x),
    ("__getitem__", lambda self, k: 2, lambda self, k: 5, lambda x, a: x * a[0]),
    ("__iter__", lambda self: iter((2,)), lambda self: iter((5, 6)), lambda x, a: [x * k for k in a]),
    ("__eq__", lambda self, b: True, lambda self, b: False, lambda x, a: x * 2 if a == 1 else x),
    ("__lt__", lambda self, b: True, lambda self, b: False, lambda x, a: x * 2 if a < 1 else x),
    ("__float__", lambda self: 2.0, lambda self: 5.0, lambda x, a: x * float(a)),
    ("__index__", lambda self: 1, lambda self: 2, lambda x, a: x[a:]),
    ("__getattr__", lambda self, n: 2, lambda self, n: 5, lambda x, a: x * a.scale),
    ("__mul__", lambda self, x: x * 2, lambda self, x: x * 5, lambda x, a: a * x),
    ("__str__", lambda self: "2", lambda self: "5", lambda x, a: x * int(str(a))),
    ("__format__", lambda self, how: "2", lambda self, how: "5", lambda x, a: x * int(f"{a}")),
    ("__hash__", lambda self: 2, lambda self: 5, lambda x, a: x * hash(a)),
):
    program(with_operator(name, first, other, use))


@program
def context_manager(tg):
    class Scope:
        def __enter__(self):
            return 2.0

        def __exit__(self, *error):
            return None

    scope = Scope()

    def step(x):
        with scope as value:
            return x * value

    return step, lambda value: setattr(Scope, "__enter__", lambda self: value)


@program
def constructor(tg):
    class Config:
        def __init__(self):
            self.scale = 2.0

    def change(value):
        def init(self):
            self.scale = value

        Config.__init__ = init

    return lambda x: x * Config().scale, change


@program
def operator_of_a_metaclass(tg):
    class Meta(type):
        def __len__(cls):
            return 2

    class Config(metaclass=Meta):
        pass

    return lambda x: x * len(Config), lambda value: setattr(Meta, "__len__", lambda cls: int(value))


@program
def keyword_added_to_a_partial(tg):
    bound = functools.partial(lambda x, scale=2.0: x * scale)

    def change(value):
        bound.keywords.pop("scale", None)
        if value == 5.0:
            bound.keywords["scale"] = value

    return lambda x: bound(x), change


@program
def list_in_a_partial(tg):
    scales = [2.0]
    bound = functools.partial(lambda scales, x: x * scales[0], scales)
    return lambda x: bound(x), lambda value: scales.__setitem__(0, value)


@program
def compiled_partial(tg):
    options = {"scale": 2.0}
    return functools.partial(lambda x, options: x * options["scale"], options=options), lambda v: options.update(
        scale=v
    )


@program
def method_of_a_list_under_another_name(tg):
    scales = [2.0]
    item = scales.__getitem__
    return lambda x: x * item(0), lambda value: scales.__setitem__(0, value)


@program
def methodcaller(tg):
    class Config:
        def scale(self):
            return 2.0

    config, ask = Config(), operator.methodcaller("scale")
    return lambda x: x * ask(config), lambda value: setattr(Config, "scale", lambda self: value)


@program
def attribute_of_a_function_that_is_set_later(tg):
    def helper(x):
        return x * getattr(helper, "scale", 2.0)

    def change(value):
        vars(helper).clear()
        if value == 5.0:
            helper.scale = value

    return lambda x: helper(x), change


def patching(module, name, other):
    """`change` for a function of a library."""
    original = getattr(module, name)
    return lambda value: setattr(module, name, original if value == 2.0 else other)


@program
def function_of_this_package(tg):
    functional = tg.nn.functional
    return lambda x: functional.relu(x), patching(functional, "relu", tg.tanh)


@program
def function_of_this_package_by_two_ways(tg):
    return lambda x: tg.relu(x) + tg.nn.functional.gelu(x), patching(tg, "relu", tg.tanh)


@program
def function_of_math(tg):
    return lambda x: x * math.sqrt(4.0), patching(math, "sqrt", math.exp)


@program
def function_of_numpy(tg):
    return lambda x: x * float(np.sqrt(4.0)), patching(np, "sqrt", np.exp)


@program
def builtin(tg):
    return lambda x: x * ord("a"), patching(builtins, "ord", lambda of: 7)


@program
def builtin_in_a_module(tg):
    module = types.ModuleType("python_objects_module")
    exec("def helper(x):\n    return x * len(x)", vars(module))

    def change(value):
        vars(module).pop("len", None)
        if value == 5.0:
            module.len = lambda of: 7

    return lambda x: module.helper(x), change


def named(name):
    module = sys.modules[name] = types.ModuleType(name)
    return module


@program
def imported_attribute(tg):
    module = named("python_objects_settings")

    def step(x):
        import python_objects_settings as settings  # noqa: PLC0415

        return x * settings.SCALE

    return step, lambda value: setattr(module, "SCALE", value)


@program
def imported_module_replaced(tg):
    def change(value):
        named("python_objects_settings").SCALE = value

    def step(x):
        from python_objects_settings import SCALE  # noqa: PLC0415

        return x * SCALE

    return step, change


@program
def module_by_its_name(tg):
    return (
        lambda x: x * sys.modules["python_objects_settings"].SCALE,
        lambda value: setattr(named("python_objects_settings"), "SCALE", value),
    )


@program
def logger_that_becomes_loud(tg):
    return lambda x: x * (2 if LOG.isEnabledFor(10) else 3), lambda v: LOG.setLevel(10 if v == 5.0 else 50)


@program
def mapping_behind_a_proxy_in_a_list(tg):
    table = {"scale": 2.0}
    views = [types.MappingProxyType(table)]
    return lambda x: x * views[0]["scale"], lambda value: table.update(scale=value)


@program
def attributes_that_refuse_strange_names(tg):
    class Strict:
        __slots__ = ("scale",)

        def __getattr__(self, name):
            raise ZeroDivisionError(name)

    strict = Strict()
    return lambda x: x * strict.scale, lambda value: setattr(strict, "scale", value)


@program
def all_attributes_by_one_method(tg):
    values = {"scale": 2.0}

    class Config:
        def __getattribute__(self, name):
            return values[name] if name in values else object.__getattribute__(self, name)

    config = Config()
    return lambda x: x * config.scale, lambda value: values.update(scale=value)


@program
def mapping_that_goes_its_own_way(tg):
    class Reversed(dict):
        def __iter__(self):
            raise AssertionError("nobody asked")

        values = items = keys = __len__ = __iter__

    table = Reversed(scale=2.0)
    return lambda x: x * table["scale"], lambda value: table.__setitem__("scale", value)


@program
def text_of_eval_that_calls_a_method(tg):
    class Config:
        def scale(self):
            return 2.0

    config = Config()
    return lambda x: x * eval("c.scale()", {"c": config}), lambda v: setattr(Config, "scale", lambda self: v)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_what_changes_is_noticed(tg, agree, make):
    undo = []

    def made(tg):
        step, change = make(tg)
        undo.append(lambda: change(2.0))
        return Program(step, lambda i: (ramp(tg, 3) * (i + 1),), tuple, lambda i: change(5.0 if i in (3, 4) else 2.0))

    try:
        agree(made, calls=7)
    finally:
        undo[-1]()


# ---------------------------------------------------------------------------------------------------- what is replayed


def replayed(step, *args):
    """The step after four calls, of which the last two at least came from C."""
    for _ in range(2):
        step(*args)
    for _ in range(2):
        step(*args)
        assert step.way == "replay", step.explain()
    return step


def test_ordinary_objects_are_replayed(tg):
    class Config:
        def __init__(self):
            self.scale = 2.0

        def __repr__(self):
            return f"Config({self.scale})"

        @property
        def half(self):
            return self.scale / 2

    class Net(tg.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.inner = tg.nn.Linear(3, 3)

        def helper(self, x):
            return x * self.config.half

        def forward(self, x):
            LOG.debug("quiet")
            return self.helper(self.inner(x)) * math.pi

    net = Net(Config())
    replayed(tg.compile(lambda x: tg.nn.functional.relu(net(x)).detach()), tg.ones(2, 3))


def test_a_first_import_is_no_side_effect(tg, tmp_path, monkeypatch):
    (tmp_path / "python_objects_on_disk.py").write_text("SCALE = 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "python_objects_on_disk", raising=False)

    def step(x):
        from python_objects_on_disk import SCALE  # noqa: PLC0415

        return x * SCALE

    compiled = replayed(tg.compile(step, fullgraph=True), tg.ones(2))
    sys.modules["python_objects_on_disk"].SCALE = 4.0
    assert compiled(tg.ones(2)).tolist() == [4.0, 4.0]


def test_code_that_is_found_when_it_runs_is_watched_from_then_on(tg):
    made = type("Made", (), {"__module__": __name__, "__call__": lambda self, x: x * FACTOR})

    def step(x):
        return eval("made(x)", {"made": made(), "x": x})

    compiled = tg.compile(step)
    with mock.patch.object(sys.modules[__name__], "FACTOR", 2.0):
        replayed(compiled, tg.ones(2))
    with mock.patch.object(sys.modules[__name__], "FACTOR", 5.0):
        assert compiled(tg.ones(2)).tolist() == [5.0, 5.0]


FACTOR = 1.0


def test_a_patched_function_costs_nothing_while_it_is_not_patched(tg):
    """What this package's modules hold is looked at after a change only."""
    compiled = replayed(tg.compile(lambda x: tg.nn.functional.relu(x)), tg.ones(2))
    bindings = compiled.specialisations[0].recording.environment.bindings
    assert not any("relu" in fact.name for _, _, fact in bindings)


@pytest.mark.filterwarnings("ignore:a profiler is at work:RuntimeWarning")
def test_nothing_is_replayed_that_a_profiler_hides(tg, capsys):
    def step(x):
        print("a step")
        return x * 2

    compiled = tg.compile(step)
    sys.setprofile(lambda *event: None)
    try:
        for _ in range(3):
            compiled(tg.ones(2))
    finally:
        sys.setprofile(None)
    for _ in range(2):
        compiled(tg.ones(2))
    assert capsys.readouterr().out.count("a step") == 5


def test_what_changed_is_explained(tg):
    class Scaler:
        def scale(self, x):
            return x * 2

    def helper(x, by=1.0):
        return x * by

    scaler = Scaler()
    compiled = tg.compile(lambda x: helper(scaler.scale(x)))
    replayed(compiled, tg.ones(2))
    helper.__defaults__ = (2.0,)
    assert compiled(tg.ones(2)).tolist() == [4.0, 4.0]
    assert "the defaults of helper: replaced  at " in compiled.explain()
    Scaler.scale = lambda self, x: x * 3
    assert compiled(tg.ones(2)).tolist() == [6.0, 6.0]
    assert re.search(r"Scaler\.scale: .* -> .*test_python_objects\.py:\d+", compiled.explain())


def test_results_of_refused_recordings_die(tg):
    w = weight(tg, 3)
    compiled = tg.compile(lambda x: (w * x).sum() * (w.sum().item() > 0))
    first = compiled(tg.ones(3))
    reference = weakref.ref(first)
    del first
    assert reference() is None


def test_attributes_of_the_programs_own_objects_have_any_name(tg):
    """Names that modules and optimizers declare in their own ways are attributes like others elsewhere."""

    class Config:
        pass

    for name in ("training", "_parameters", "_modules", "_buffers", "state", "param_groups", "hook"):
        config = Config()
        setattr(config, name, 2.0)
        space = {"config": config}
        exec(f"def step(x):\n    return x * config.{name}", space)
        compiled = replayed(tg.compile(space["step"]), tg.ones(2))
        setattr(config, name, 3.0)
        assert compiled(tg.ones(2)).tolist() == [3.0, 3.0], name
