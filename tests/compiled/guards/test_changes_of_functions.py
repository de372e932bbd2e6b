"""Functions, modules and what runs them that change after calls were replayed."""

import contextlib
import contextvars
import functools
import inspect
import operator
import types

import pytest
from compiled.changing import Programs, assert_changes_are_noticed

program = Programs()

SCALE = 2.0
TABLE = {"scale": 2.0}


class Plain:
    """Holds what it is given."""

    def __init__(self, **given):
        vars(self).update(given)


def set_scale(value):
    global SCALE
    SCALE = value


@program
def variable_by_nonlocal(tg):
    scale = 2.0

    def change(v):
        nonlocal scale
        scale = v

    return lambda x: x * scale, change


@program
def variable_two_functions_out(tg):
    scale = 2.0

    def outer():
        def inner():
            return scale

        return inner

    def change(v):
        nonlocal scale
        scale = v

    return lambda x: x * outer()(), change


@program
def cell_by_the_closure(tg):
    scale = 2.0
    step = lambda x: x * scale  # noqa: E731
    return step, lambda v: setattr(step.__closure__[0], "cell_contents", v)


@program
def default_that_is_a_list(tg):
    def helper(x, scales=[2.0]):  # noqa: B006
        return x * scales[0]

    return lambda x: helper(x), lambda v: helper.__defaults__[0].__setitem__(0, v)


@program
def defaults_of_a_helper(tg):
    def helper(x, scale=2.0):
        return x * scale

    return lambda x: helper(x), lambda v: setattr(helper, "__defaults__", (v,))


@program
def defaults_where_there_were_none(tg):
    def helper(*scales):
        return sum(scales, 1.0)

    def other(scale=4.0):
        return scale

    codes = {2.0: helper.__code__, 5.0: other.__code__}

    def change(v):
        helper.__code__, helper.__defaults__ = codes[v], (v,)

    return lambda x: x * helper(), change


@program
def keyword_defaults_of_a_helper(tg):
    def helper(x, *, scale=2.0):
        return x * scale

    return lambda x: helper(x), lambda v: helper.__kwdefaults__.update(scale=v)


@program
def code_of_a_helper(tg):
    def helper():
        return 2.0

    codes = {2.0: helper.__code__, 5.0: (lambda: 5.0).__code__}
    return lambda x: x * helper(), lambda v: setattr(helper, "__code__", codes[v])


@program
def attribute_of_a_helper(tg):
    def helper():
        return helper.scale

    helper.scale = 2.0
    return lambda x: x * helper(), lambda v: setattr(helper, "scale", v)


@program
def attribute_of_a_helper_that_comes(tg):
    def helper():
        return 2.0

    def step(x):
        try:
            return x * helper.scale
        except AttributeError:
            return x * 2.0

    return step, lambda v: setattr(helper, "scale", v)


@program
def attribute_of_a_lambda_with_a_default(tg):
    helper = lambda: 2.0  # noqa: E731
    return lambda x: x * getattr(helper, "scale", 2.0), lambda v: setattr(helper, "scale", v)


@program
def attribute_of_the_step_itself(tg):
    def step(x):
        try:
            return x * step.scale
        except AttributeError:
            return x * 2.0

    return step, lambda v: setattr(step, "scale", v)


@program
def name_of_a_helper(tg):
    def helper():
        pass

    return lambda x: x * len(helper.__name__), lambda v: setattr(helper, "__name__", "h" * int(v))


@program
def text_of_a_helper(tg):
    def helper():
        """ab"""

    return lambda x: x * len(helper.__doc__), lambda v: setattr(helper, "__doc__", "h" * int(v))


@program
def annotations_of_a_helper(tg):
    def helper(x: 2.0):
        pass

    return lambda x: x * helper.__annotations__["x"], lambda v: helper.__annotations__.update(x=v)


@program
def defaults_that_are_looked_at(tg):
    def helper(scale=2.0):
        pass

    return lambda x: x * helper.__defaults__[0], lambda v: setattr(helper, "__defaults__", (v,))


@program
def signature_of_a_helper(tg):
    def helper(scale=2.0):
        pass

    def step(x):
        return x * inspect.signature(helper).parameters["scale"].default

    return step, lambda v: setattr(helper, "__defaults__", (v,))


@program
def wrapped_function_replaced(tg):
    def scaled(function):
        @functools.wraps(function)
        def wrapper(x):
            return wrapper.__wrapped__(x)

        return wrapper

    @scaled
    def helper(x):
        return x * 2.0

    return lambda x: helper(x), lambda v: setattr(helper, "__wrapped__", lambda x: x * v)


@program
def decorator_with_state(tg):
    state = {"scale": 2.0}

    def scaled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * state["scale"]

        return wrapper

    return scaled(lambda x: x + 1), lambda v: state.update(scale=v)


@program
def decorator_that_is_an_object(tg):
    class Scaled:
        def __init__(self, function):
            self.function, self.scale = function, 2.0

        def __call__(self, x):
            return self.function(x) * self.scale

    helper = Scaled(lambda x: x + 1)
    return lambda x: helper(x), lambda v: setattr(helper, "scale", v)


@program
def cache_that_is_cleared(tg):
    box = [2.0]

    @functools.cache
    def scale():
        return box[0]

    def change(v):
        box[0] = v
        scale.cache_clear()

    return lambda x: x * scale(), change


@program
def dispatch_by_type(tg):
    @functools.singledispatch
    def scale(of):
        return 2.0

    return lambda x: x * scale("a"), lambda v: scale.register(str, lambda of: v)


@program
def dispatch_of_a_method(tg):
    class Config:
        @functools.singledispatchmethod
        def scale(self, of):
            return 2.0

    config, register = Config(), vars(Config)["scale"].register
    return lambda x: x * config.scale("a"), lambda v: register(str, lambda self, of: v)


@program
def partial_given_anew(tg):
    helper = functools.partial(lambda x, scale: x * scale, scale=2.0)
    func = helper.func
    return lambda x: helper(x), lambda v: helper.__setstate__((func, (), {"scale": v}, {}))


@program
def keywords_of_a_partial(tg):
    helper = functools.partial(lambda x, scale: x * scale, scale=2.0)
    return lambda x: helper(x), lambda v: helper.keywords.update(scale=v)


@program
def attribute_of_a_partial(tg):
    helper = functools.partial(max, 1.0)
    helper.scale = 2.0
    return lambda x: x * helper.scale, lambda v: setattr(helper, "scale", v)


@program
def attribute_of_a_partial_that_comes(tg):
    helper = functools.partial(max, 1.0)

    def step(x):
        try:
            return x * helper.scale
        except AttributeError:
            return x * 2.0

    return step, lambda v: setattr(helper, "scale", v)


@program
def class_of_partials_with_a_method(tg):
    class Own(functools.partial):
        def scale(self):
            return 2.0

    helper = Own(max, 1.0)
    return lambda x: x * helper.scale(), lambda v: setattr(Own, "scale", lambda self: v)


@program
def class_of_partials_that_is_called(tg):
    class Own(functools.partial):
        def __call__(self, *args):
            return super().__call__(*args) * 2.0

    helper = Own(max, 1.0)
    return lambda x: x * helper(2.0), lambda v: setattr(Own, "__call__", lambda self, *args: v)


@program
def class_of_properties(tg):
    class Own(property):
        def __get__(self, instance, owner=None):
            return 2.0

    class Config:
        scale = Own(lambda self: 1.0)

    config = Config()
    return lambda x: x * config.scale, lambda v: setattr(Own, "__get__", lambda self, *_: v)


@program
def class_of_static_methods(tg):
    class Own(staticmethod):
        def __get__(self, instance, owner=None):
            return lambda: 2.0

    class Config:
        scale = Own(lambda: 1.0)

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(Own, "__get__", lambda self, *_: lambda: v)


@program
def partial_method(tg):
    class Config:
        def _scaled(self, scale):
            return scale

        scale = functools.partialmethod(_scaled, 2.0)

    config = Config()
    return lambda x: x * config.scale(), lambda v: setattr(vars(Config)["scale"], "args", (v,))


@program
def bound_method_of_an_object(tg):
    thing = Plain(scale=2.0)
    bound = types.MethodType(lambda self: self.scale, thing)
    return lambda x: x * bound(), lambda v: setattr(thing, "scale", v)


@program
def bound_method_of_a_dict(tg):
    table = {"scale": 2.0}
    look = table.get
    return lambda x: x * look("scale"), lambda v: table.update(scale=v)


@program
def bound_special_method_of_a_list(tg):
    items = [2.0]
    look = items.__getitem__
    return lambda x: x * look(0), lambda v: items.__setitem__(0, v)


@program
def getters_of_operator(tg):
    thing, look = Plain(inner=Plain(scale=2.0)), operator.attrgetter("inner.scale")
    return lambda x: x * look(thing), lambda v: setattr(thing.inner, "scale", v)


@program
def item_getters_of_operator(tg):
    items, look = [1.0, 2.0], operator.itemgetter(1)
    return lambda x: x * look(items), lambda v: items.__setitem__(1, v)


@program
def function_in_a_dict(tg):
    table = {"f": lambda x: x * 2.0}
    return lambda x: table["f"](x), lambda v: table.update(f=lambda x: x * v)


@program
def mutual_recursion(tg):
    space = {}

    def even(x, n):
        return x if n == 0 else odd(x * 2.0, n - 1)

    def odd(x, n):
        return x if n == 0 else space["even"](x, n - 1)

    space["even"] = even
    return lambda x: even(x, 3), lambda v: space.update(even=lambda x, n: x * v)


@program
def recursion_by_a_global(tg):
    def step(x):
        return x * SCALE

    return step, set_scale


@program
def executed_function(tg):
    space = {"scale": 2.0}
    exec("def step(x):\n    return x * scale", space)
    return space["step"], lambda v: space.update(scale=v)


@program
def executed_in_the_step(tg):
    space = {"scale": 2.0}

    def step(x):
        inner = dict(space, x=x)
        exec("y = x * scale", inner)
        return inner["y"]

    return step, lambda v: space.update(scale=v)


@program
def evaluated_text(tg):
    box = ["x * 2.0"]
    return lambda x: eval(box[0], {"x": x}), lambda v: box.__setitem__(0, f"x * {v}")


@program
def name_in_globals(tg):
    return lambda x: x * globals()["SCALE"], set_scale


@program
def attributes_by_vars(tg):
    thing = Plain(scale=2.0)
    return lambda x: x * vars(thing)["scale"], lambda v: setattr(thing, "scale", v)


@program
def generator_function(tg):
    box = [2.0]

    def scales():
        yield from box

    return lambda x: x * sum(scales()), lambda v: box.__setitem__(0, v)


@program
def generator_kept_across_calls(tg):
    def scales():
        value = 1.0
        while True:
            value += 1.0
            yield value

    kept = scales()
    return lambda x: x * next(kept), lambda v: next(kept)


@program
def generator_that_is_sent_to(tg):
    def scales():
        value = 2.0
        while True:
            value = (yield value) or value

    kept = scales()
    next(kept)
    return lambda x: x * next(kept), lambda v: kept.send(v)


@program
def iterator_kept_across_calls(tg):
    kept = iter(range(100))
    return lambda x: x * next(kept), lambda v: next(kept)


@program
def coroutine_run_by_hand(tg):
    box = [2.0]

    async def scale():
        return box[0]

    def step(x):
        try:
            scale().send(None)
        except StopIteration as stop:
            return x * stop.value

    return step, lambda v: box.__setitem__(0, v)


@program
def context_manager_with_state(tg):
    class Scaled:
        scale = 2.0

        def __enter__(self):
            return self.scale

        def __exit__(self, *_):
            return None

    holder = Plain(context=Scaled())

    def step(x):
        with holder.context as scale:
            return x * scale

    return step, lambda v: setattr(holder.context, "scale", v)


@program
def context_manager_of_a_generator(tg):
    box = [2.0]

    @contextlib.contextmanager
    def scaled():
        yield box[0]

    def step(x):
        with scaled() as scale:
            return x * scale

    return step, lambda v: box.__setitem__(0, v)


@program
def null_context(tg):
    context = contextlib.nullcontext(2.0)

    def step(x):
        with context as scale:
            return x * scale

    return step, lambda v: setattr(context, "enter_result", v)


@program
def suppressed_exceptions(tg):
    context = contextlib.suppress(KeyError)

    def step(x):
        with context:
            x = x * 2.0
            {}["a"]
            x = x * 3.0
        return x

    return step, lambda v: setattr(context, "_exceptions", (KeyError, ValueError) if v == 2.0 else (ValueError,))


@program
def context_variable_with_a_token(tg):
    variable = contextvars.ContextVar("scale", default=2.0)
    return lambda x: x * variable.get(), variable.set


@program
def context_variable_in_a_copied_context(tg):
    variable = contextvars.ContextVar("scale", default=2.0)
    box = [contextvars.copy_context()]

    def change(v):
        box[0].run(variable.set, v)

    return lambda x: x * box[0].run(variable.get), change


@program
def exception_as_control(tg):
    box = [2.0]

    def scale():
        if box[0] > 3.0:
            raise ValueError(box[0])
        return box[0]

    def step(x):
        try:
            factor = scale()
        except ValueError as error:
            factor = error.args[0] * 10.0
        else:
            factor = factor + 1.0
        finally:
            x = x + 1.0
        return x * factor

    return step, lambda v: box.__setitem__(0, v)


@program
def exception_that_leaves(tg):
    box = [2.0]

    def step(x):
        if box[0] > 3.0:
            raise ValueError(f"too large: {box[0]}")
        return x * box[0]

    return step, lambda v: box.__setitem__(0, v)


@program
def exception_that_is_kept(tg):
    error = ValueError(2.0)
    return lambda x: x * error.args[0], lambda v: setattr(error, "args", (v,))


@program
def match_over_state(tg):
    box = [{"kind": "a", "scale": 2.0}]

    def step(x):
        match box[0]:
            case {"kind": "a", "scale": scale}:
                return x * scale
            case {"kind": "b"}:
                return x * 7.0

    return step, lambda v: box.__setitem__(0, {"kind": "b"} if v == 5.0 else {"kind": "a", "scale": v})


@program
def walrus_in_a_comprehension(tg):
    box = [2.0, 3.0]
    return lambda x: x * sum(y for z in box if (y := z * 2.0) > 1.0), lambda v: box.__setitem__(0, v)


@program
def order_of_keywords(tg):
    table = {"a": 2.0, "b": 3.0}

    def first(**named):
        return next(iter(named.values()))

    def change(v):
        table["a"] = table.pop("a") if v == 5.0 else v

    return lambda x: x * first(**table), change


@program
def star_arguments_of_a_list(tg):
    items = [2.0]
    return lambda x: x * max(1.0, *items), lambda v: items.append(v)


@program
def positional_only(tg):
    def helper(x, scale=2.0, /, **others):
        return x * scale + others.get("scale", 0.0)

    table = {"scale": 2.0}
    return lambda x: helper(x, **table), lambda v: table.update(scale=v)


@program
def sorted_by_a_key(tg):
    holder = Plain(key=lambda item: item)
    return lambda x: x * sorted([2.0, 5.0], key=holder.key)[0], lambda v: setattr(
        holder, "key", (lambda item: item) if v == 2.0 else (lambda item: -item)
    )


@program
def reduced_by_a_function(tg):
    holder = Plain(f=operator.add)
    return lambda x: x * functools.reduce(holder.f, [2.0, 3.0]), lambda v: setattr(
        holder, "f", operator.add if v == 2.0 else operator.mul
    )


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_functions(tg, make):
    assert_changes_are_noticed(tg, make)
