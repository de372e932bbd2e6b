"""Traps of functions: caches, defaults, closures, imports, generators; each changed between or within the calls."""

import contextlib
import dataclasses
import functools
import operator
import random
import sys
import types

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp, switched

ask = Section("Traps: functions")


SCALE = 1.0


SPACE = types.SimpleNamespace()


def set_scale(value):
    global SCALE
    SCALE = value


def trap(make):
    return ask.either(calls=6)(make)


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A frozen configuration."""

    scale: float = 2.0
    inner: tuple[str, ...] = ("sum",)


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
def function_of_the_library_patched(tg):
    """Is a function of the library that a test patches seen?"""
    original = tg.nn.functional.relu

    def change(value):
        tg.nn.functional.relu = original if value == 2.0 else tg.tanh

    program = switched(tg, lambda x: tg.nn.functional.relu(x), change)
    program.after = lambda i, out: change(2.0)
    return program


@trap
def layer_of_the_library_patched(tg):
    """Is a layer's forward that is replaced in its class seen?"""
    layer, original = tg.nn.ReLU(), tg.nn.ReLU.forward

    def change(value):
        tg.nn.ReLU.forward = original if value == 2.0 else lambda self, x: tg.tanh(x)

    program = switched(tg, lambda x: layer(x) * 2, change)
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
def test_traps_functions(answer, question):
    answer(question)
