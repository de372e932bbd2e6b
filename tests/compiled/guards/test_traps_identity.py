"""Traps of identity: which tensor an argument is, what users have hung on tensors, and what is handed back."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Traps: identity")


def trap(make):
    return ask.either(calls=6)(make)


@trap
def argument_in_a_list(tg):
    """Is `x in tensors` true by identity for one argument and asked of numbers for another?"""
    kept = [ramp(tg, 1), ramp(tg, 1) * 2]

    def step(x):
        return x * 2 if x in kept else x * 3

    return Program(step, lambda i: (kept[0] if i in (1, 4) else ramp(tg, 1) + 7,))


@trap
def argument_that_nothing_is_computed_with(tg):
    """Is an argument compared with a captured tensor that is used for nothing else?"""
    w, v = ramp(tg, 3), ramp(tg, 3)

    def step(x, which):
        return x * (2 if which is w else 3 if which is v else 4)

    return Program(step, lambda i: (ramp(tg, 3), (w, v, ramp(tg, 3), w.detach())[i % 4]))


@trap
def arguments_returned_as_they_are(tg):
    """Are two arguments over one memory handed back as the two that they are?"""
    x = ramp(tg, 3)
    return Program(lambda a, b: (a, b, a * b), lambda i: (x, x) if i % 2 else (x, x.detach()))


@trap
def one_argument_twice_then_two(tg):
    """Are the second argument's numbers read, where both were one tensor before?"""
    x = ramp(tg, 3)
    return Program(lambda a, b: a * 2 + b, lambda i: (x, x) if i in (0, 1, 4) else (x, ramp(tg, 3) * i))


@trap
def argument_in_a_set(tg):
    """Is an argument that is looked up in a set of tensors looked up anew?"""
    kept = [ramp(tg, 3), ramp(tg, 3)]
    known = set(kept)
    return Program(lambda x: x * 2 if x in known else x * 3, lambda i: (kept[i % 2] if i > 2 else ramp(tg, 3),))


@trap
def attribute_that_an_argument_comes_to_have(tg):
    """Is an attribute seen that earlier arguments did not have?"""

    def args(i):
        x = ramp(tg, 3)
        if i in (3, 4):
            x.scale = 5.0
        return (x,)

    return Program(lambda x: x * getattr(x, "scale", 2.0), args)


@trap
def attribute_that_a_captured_tensor_comes_to_have(tg):
    """Is an attribute seen that a captured tensor did not have, and has lost later?"""
    w = weight(tg, 3)

    def between(i):
        if i == 2:
            w.frozen = True
        if i == 4:
            del w.frozen

    def step(x):
        return x * 2 if hasattr(w, "frozen") else (x * w).detach()

    return Program(step, batches(tg, 3), tuple, between)


@trap
def attribute_with_a_computed_name(tg):
    """Is an attribute seen whose name the code does not mention?"""
    w, world = ramp(tg, 3), {"name": "sc" + "ale"}

    def between(i):
        setattr(w, world["name"], 5.0 if i in (3, 4) else 2.0)

    return Program(lambda x: x * w * getattr(w, world["name"]), batches(tg, 3), tuple, between)


@trap
def attribute_set_inside(tg):
    """Is an attribute that the step sets on a captured tensor and on an argument set at each call?"""
    w, seen = ramp(tg, 3), []

    def step(x, n):
        w.last = n
        x.visited = True
        return x * w

    def args(i):
        x = batch(tg, i, 3)
        seen.append(x)
        return x, i

    return Program(step, args, lambda: [w.last, [x.visited for x in seen]])


@trap
def attribute_on_a_result(tg):
    """Does a tensor that the step returns have the attribute that the step gave it?"""

    def step(x):
        out = x * 2
        out.title = "double"
        return out

    titles = []
    return Program(step, batches(tg, 3), lambda: titles, after=lambda i, out: titles.append(out.title))


@trap
def dict_argument_returned(tg):
    """Is a dict among the arguments that is returned that dict?"""
    same = []

    def args(i):
        return ({"x": batch(tg, i, 3)},)

    given = {}

    def args_kept(i):
        given["last"] = args(i)
        return given["last"]

    def after(i, out):
        same.append(out[1] is given["last"][0])

    return Program(lambda sample: (sample["x"] * 2, sample), args_kept, lambda: same, after=after)


@trap
def parameters_counted_by_id(tg):
    """Are parameters that are told apart by id() told apart?"""
    first, second = weight(tg, 3), weight(tg, 3)
    world = {"parameters": [first, second, first]}

    def between(i):
        if i == 3:
            world["parameters"] = [first, first, first]

    def step(x):
        return x * len({id(p) for p in world["parameters"]})

    return Program(step, batches(tg, 3), tuple, between)


@pytest.mark.parametrize("question", ask.rows())
def test_traps_identity(answer, question):
    answer(question)
