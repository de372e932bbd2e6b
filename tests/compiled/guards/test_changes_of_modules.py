"""Modules and libraries that change after calls were replayed."""

import builtins
import collections
import copy
import fractions
import importlib
import json
import pickle
import re
import statistics
import string
import sys
import textwrap
import types

import pytest
from compiled.changing import Programs, assert_changes_are_noticed

program = Programs()

SCALE = 2.0
NAME_OF_MODULE = "changing_module"
TABLE = {"scale": 2.0}


class Plain:
    """Holds what it is given."""

    def __init__(self, **given):
        vars(self).update(given)


def made_module(name="changing_module", **given):
    module = types.ModuleType(name)
    vars(module).update(given)
    return module


@program
def variable_of_a_module(tg):
    module = made_module(scale=2.0)
    return lambda x: x * module.scale, lambda v: setattr(module, "scale", v)


@program
def variable_of_a_module_by_its_dict(tg):
    module = made_module(scale=2.0)
    return lambda x: x * module.scale, lambda v: module.__dict__.update(scale=v)


@program
def getattr_of_a_module(tg):
    table = {"scale": 2.0}
    module = made_module(__getattr__=lambda name: table[name])
    return lambda x: x * module.scale, lambda v: table.update(scale=v)


@program
def getattr_of_a_module_replaced(tg):
    module = made_module(__getattr__=lambda name: 2.0)
    return lambda x: x * module.scale, lambda v: setattr(module, "__getattr__", lambda name: v)


@program
def class_of_a_module_with_a_property(tg):
    kinds = {v: type("Own", (types.ModuleType,), {"scale": property(lambda self, v=v: v)}) for v in (2.0, 5.0)}
    module = made_module()
    module.__class__ = kinds[2.0]
    return lambda x: x * module.scale, lambda v: setattr(module, "__class__", kinds[v])


@program
def property_of_a_class_of_modules(tg):
    kind = type("Own", (types.ModuleType,), {"scale": property(lambda self: 2.0)})
    module = made_module()
    module.__class__ = kind
    return lambda x: x * module.scale, lambda v: setattr(kind, "scale", property(lambda self: v))


@program
def name_of_a_module(tg):
    module = made_module("ab")
    return lambda x: x * len(module.__name__), lambda v: setattr(module, "__name__", "a" * int(v))


@program
def own_module_in_sys_modules(tg):
    vars(sys.modules[__name__])["SCALE"] = 2.0
    return lambda x: x * vars(sys.modules[__name__])["SCALE"], lambda v: setattr(sys.modules[__name__], "SCALE", v)


@program
def module_whose_name_is_in_a_variable(tg):
    module = sys.modules[NAME_OF_MODULE] = made_module(scale=2.0)
    return lambda x: x * sys.modules[NAME_OF_MODULE].scale, lambda v: setattr(module, "scale", v)


@program
def entry_of_sys_modules(tg):
    sys.modules["changing_module"] = made_module(scale=2.0)

    def step(x):
        import changing_module  # noqa: PLC0415

        return x * changing_module.scale

    return step, lambda v: sys.modules.update(changing_module=made_module(scale=v))


@program
def from_import_inside(tg):
    sys.modules["changing_module"] = module = made_module(scale=2.0)

    def step(x):
        from changing_module import scale  # noqa: PLC0415

        return x * scale

    return step, lambda v: setattr(module, "scale", v)


@program
def module_by_import_module(tg):
    sys.modules["changing_module"] = made_module(scale=2.0)

    def step(x):
        return x * importlib.import_module("changing_module").scale

    return step, lambda v: sys.modules.update(changing_module=made_module(scale=v))


@program
def function_of_a_users_module(tg):
    module = made_module(scale=lambda: 2.0)
    return lambda x: x * module.scale(), lambda v: setattr(module, "scale", lambda: v)


@program
def builtin_replaced(tg):
    original = builtins.oct
    return lambda x: x * len(oct(8)), lambda v: setattr(builtins, "oct", original if v == 2.0 else lambda *_: "a")


@program
def builtins_of_a_space(tg):
    space = {"__builtins__": dict(vars(builtins), scale=2.0)}
    exec("def step(x):\n    return x * scale", space)
    return space["step"], lambda v: space["__builtins__"].update(scale=v)


@program
def builtin_shadowed(tg):
    space = {}
    exec("def step(x):\n    return x * max(2.0, 1.0)", space)

    def change(v):
        if v == 5.0:
            space["max"] = min
        else:
            space.pop("max", None)

    return space["step"], change


# ------------------------------------------------------------------------------------------ what libraries are made of


def with_attribute(name, of, look):
    """A program that reads an attribute of something of a library; and one where it comes later."""

    def changing(tg):
        def change(v):
            of(tg).changing_scale = v

        change.undo = lambda: delattr(of(tg), "changing_scale")
        return change

    def there(tg):
        changing(tg)(2.0)
        return lambda x: x * look(tg).changing_scale, changing(tg)

    def later(tg):
        if hasattr(of(tg), "changing_scale"):
            del of(tg).changing_scale

        def step(x):
            try:
                return x * look(tg).changing_scale
            except AttributeError:
                return x * 2.0

        change = changing(tg)
        change.undo = lambda: None
        return step, change

    there.__name__, later.__name__ = f"attribute_of_{name}", f"attribute_that_comes_of_{name}"
    program(there)
    program(later)


OF_LIBRARIES = {
    "relu": (lambda tg: tg.nn.functional.relu, lambda tg: tg.nn.functional.relu),
    "a_function_by_variable": (lambda tg: tg.nn.functional.gelu, lambda tg: _look(tg.nn.functional.gelu)),
    "a_layer_class": (lambda tg: tg.nn.Linear, lambda tg: tg.nn.Linear),
    "an_optimizer_class": (lambda tg: tg.optim.SGD, lambda tg: tg.optim.SGD),
    "the_tensor_class": (lambda tg: tg.Tensor, lambda tg: tg.Tensor),
    "a_dataset_class": (lambda tg: tg.utils.data.TensorDataset, lambda tg: tg.utils.data.TensorDataset),
    "a_package": (lambda tg: tg.nn, lambda tg: tg.nn),
    "a_function_of_statistics": (lambda tg: statistics.mean, lambda tg: statistics.mean),
    "a_class_of_fractions": (lambda tg: fractions.Fraction, lambda tg: fractions.Fraction),
    "a_class_of_collections": (lambda tg: collections.UserDict, lambda tg: collections.UserDict),
    "a_module_of_python": (lambda tg: statistics, lambda tg: statistics),
    "a_method_of_a_class_of_python": (lambda tg: fractions.Fraction.limit_denominator,) * 2,
    "a_function_of_numpys_python": (lambda tg: _NUMPYS, lambda tg: _NUMPYS),
    "a_function_of_another_library": (lambda tg: pytest.raises, lambda tg: pytest.raises),
}
_NUMPYS = __import__("numpy").lib.stride_tricks.sliding_window_view.__wrapped__


def _look(thing):
    return thing


for _name, (_of, _how) in OF_LIBRARIES.items():
    with_attribute(_name, _of, _how)


@program
def defaults_of_a_function_of_python(tg):
    function = statistics.harmonic_mean
    return lambda x: x * statistics.harmonic_mean([2.0, 4.0]), lambda v: setattr(
        function, "__defaults__", (None,) if v == 2.0 else ([1.0, 5.0],)
    )


@program
def code_of_a_function_of_python(tg):
    function, code = textwrap.dedent, textwrap.dedent.__code__

    def change(v):
        function.__code__ = code if v == 2.0 else (lambda text: "abcde").__code__

    return lambda x: x * len(textwrap.dedent("  ab")), change


@program
def attribute_of_a_class_of_python_that_is_used(tg):
    before = string.Template.delimiter

    def change(v):
        string.Template.delimiter = before if v == 2.0 else "%"

    return lambda x: x * len(string.Template("$abc").safe_substitute(abc="a")), change


@program
def copy_of_an_object(tg):
    thing = Plain(scale=2.0)
    return lambda x: x * copy.copy(thing).scale, lambda v: setattr(thing, "scale", v)


@program
def deep_copy_of_a_nested_object(tg):
    thing = Plain(inner=[Plain(scale=2.0)])
    return lambda x: x * copy.deepcopy(thing).inner[0].scale, lambda v: setattr(thing.inner[0], "scale", v)


@program
def text_of_json(tg):
    table = {"scale": [2.0]}
    return lambda x: x * json.loads(json.dumps(table))["scale"][0], lambda v: table["scale"].__setitem__(0, v)


@program
def pickled_state(tg):
    table = {"scale": [2.0]}
    return lambda x: x * pickle.loads(pickle.dumps(table))["scale"][0], lambda v: table["scale"].__setitem__(0, v)


@program
def pattern_of_re(tg):
    box = [re.compile("a+")]
    return lambda x: x * len(box[0].match("aab").group()), lambda v: box.__setitem__(
        0, re.compile("a+" if v == 2.0 else ".+")
    )


@program
def text_of_state_as_a_key(tg):
    thing, table = Plain(name="a"), {"key_a": 2.0, "key_b": 5.0}
    return lambda x: x * table[f"key_{thing.name}"], lambda v: setattr(thing, "name", "a" if v == 2.0 else "b")


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_modules(tg, make):
    assert_changes_are_noticed(tg, make)
