"""Tensors in variables, attributes and containers that are rebound, and arguments of which some entries are read."""

import collections

import pytest
from side_by_side import Program, agreeing, ramp, run

CALLS = 9


class Holder:
    """An object with attributes."""


class Slotted:
    __slots__ = ("kept", "other")


# How a program keeps two tensors: ``make()`` gives what loads and what stores number 0 or 1. The functions that load
# are text, so that each of them is code that names the place.
def in_globals(tg):
    space = {"tg": tg}
    return space, "kept{}", lambda k, value: space.__setitem__(f"kept{k}", value)


def in_attributes(tg):
    holder = Holder()
    return {"tg": tg, "holder": holder}, "holder.kept{}", lambda k, value: setattr(holder, f"kept{k}", value)


def in_a_dict(tg):
    kept = {}
    return {"tg": tg, "kept": kept}, "kept['{}']", lambda k, value: kept.__setitem__(str(k), value)


def in_a_list(tg):
    kept = [None, None, "beside them"]
    return {"tg": tg, "kept": kept}, "kept[{}]", kept.__setitem__


def in_a_list_in_a_dict(tg):
    kept = {"inner": [None, None]}
    return {"tg": tg, "kept": kept}, "kept['inner'][{}]", kept["inner"].__setitem__


def in_an_ordered_dict_in_an_object(tg):
    holder = Holder()
    holder.kept = collections.OrderedDict()
    return {"tg": tg, "holder": holder}, "holder.kept[{}]", lambda k, value: holder.kept.__setitem__(k, value)


def in_a_class(tg):
    kind = type("Kind", (), {"__module__": __name__})
    return {"tg": tg, "Kind": kind}, "Kind.kept{}", lambda k, value: setattr(kind, f"kept{k}", value)


def in_a_module_attribute(tg):
    model = tg.nn.Linear(2, 2)
    return {"tg": tg, "model": model}, "model.kept{}", lambda k, value: object.__setattr__(model, f"kept{k}", value)


def in_a_deque(tg):
    kept = collections.deque([None, None])
    return {"tg": tg, "kept": kept}, "kept[{}]", kept.__setitem__


PLACES = [
    in_globals, in_attributes, in_a_dict, in_a_list, in_a_list_in_a_dict, in_an_ordered_dict_in_an_object, in_a_class,
    in_a_module_attribute, in_a_deque,
]  # fmt: skip

# What the function does with them, A and B; x is its argument, w a leaf.
DOES = {
    "reads": "return (A * 2 + x).sum()",
    "reads both": "return A * B + x",
    "returns": "return A, x + B",
    "returns a view": "return A[1:], B.t()",
    "writes": "A.mul_(0.5); return A + B",
    "writes and reads the other": "A.add_(1.0); return B.sum() + x.sum()",
    "writes the argument": "x.add_(1.0); return A.sum() + B.sum()",
    "trains": "loss = ((w * A - B) ** 2).sum(); loss.backward(); g = w.grad; w.grad = None; return loss, g",
    "differentiable": "return (w * A).sum() * B.detach().mean()",
    "backward into them": "loss = (A * x).sum(); loss.backward() if A.requires_grad else None; return loss",
    "asks which": "return A * 2 if A is B else A * 3",
    "asks the shape": "return x * A.shape[0] + (B.dim() if B is not None else 0)",
    "asks for None": "return x if B is None else x + B",
    "in a call": "return (lambda a, b: a * 2 + b)(A, B)",
}


def sequences(tg):
    """What the two places hold before each call."""
    new = [ramp(tg, 2, 2) * (i + 1) for i in range(3 * CALLS)]
    whole = ramp(tg, 8, 2)
    views = [whole[i : i + 2] for i in range(6)]
    leaf = ramp(tg, 2, 2).requires_grad_()
    other = [ramp(tg, 3, 2), ramp(tg, 2, 3)]
    strided = ramp(tg, 2, 2).t()
    both_new = [(new[i], new[CALLS + i]) for i in range(CALLS)]
    return {
        "new": both_new,
        "one is new": [(new[i], new[-1]) for i in range(CALLS)],
        "two in turn": [(new[i % 2], new[2 + i % 2]) for i in range(CALLS)],
        "sometimes one tensor": [(a, a) if i in (3, 6) else (a, b) for i, (a, b) in enumerate(both_new)],
        "exchanged": [(new[i % 2], new[1 - i % 2]) for i in range(CALLS)],
        "sometimes other shapes": [(a, other[i % 2] if i in (4, 6) else b) for i, (a, b) in enumerate(both_new)],
        "sometimes None": [(a, None if i in (4, 7) else b) for i, (a, b) in enumerate(both_new)],
        "sometimes a number": [(a, 0.5 if i in (4, 7) else b) for i, (a, b) in enumerate(both_new)],
        "sometimes a leaf": [(leaf if i in (4, 7) else a, b) for i, (a, b) in enumerate(both_new)],
        "sometimes strided": [(strided if i in (4, 7) else a, b) for i, (a, b) in enumerate(both_new)],
        "views of one": [(views[i % 5], views[(i + 1) % 5]) for i in range(CALLS)],
        "a view of the other": [(whole[:2], whole[2:4]) if i % 3 else (views[0], views[0][:]) for i in range(CALLS)],
        "integers": [(a.to(tg.int64) if i in (4, 7) else a, b) for i, (a, b) in enumerate(both_new)],
    }  # fmt: skip


def program(tg, place, does, sequence, argument=None):
    space, load, store = place(tg)
    body = DOES[does].replace("A", load.format(0)).replace("B", load.format(1))
    space["w"] = tg.full((2, 2), 0.5).requires_grad_()
    held = sequences(tg)[sequence]
    exec(f"def step(x):\n    {body}", space)

    def between(i):
        for k, value in enumerate(held[i]):
            store(k, value)

    def state():
        tensors = {id(t): t for pair in held for t in pair if isinstance(t, tg.Tensor)}
        return [(t.detach(), t.grad, t._version) for t in tensors.values()], space["w"].grad

    args = (lambda i: (held[i][0],)) if argument == "the same" else (lambda i: (ramp(tg, 2, 2) + i,))
    return Program(space["step"], args, state, between, raises=(RuntimeError, TypeError, AttributeError, IndexError))


CASES = [(p, d) for p in PLACES for d in DOES]
SEQUENCES = ["new", "sometimes one tensor", "sometimes other shapes", "views of one"]  # in each run; --long takes all


@pytest.mark.parametrize(("place", "does"), CASES[::11], ids=[f"{p.__name__}-{d}" for p, d in CASES[::11]])
def test_rebound_tensors(tg, place, does):
    for sequence in SEQUENCES:
        check(tg, lambda tg: program(tg, place, does, sequence), sequence)  # noqa: B023


@pytest.mark.long(every=37)
@pytest.mark.parametrize(("place", "does"), CASES, ids=[f"{p.__name__}-{d}" for p, d in CASES])
def test_rebound_tensors_in_all_sequences(tg, place, does):
    for sequence in sequences(tg):
        check(tg, lambda tg: program(tg, place, does, sequence), sequence)  # noqa: B023


@pytest.mark.long(every=17)
@pytest.mark.parametrize("does", DOES)
def test_rebound_tensors_that_are_arguments_too(tg, does):
    for sequence in sequences(tg):
        check(tg, lambda tg: program(tg, in_a_dict, does, sequence, "the same"), sequence)  # noqa: B023


@pytest.mark.parametrize("place", [p for p in PLACES if p is not in_a_deque])
@pytest.mark.parametrize("does", ["reads both", "writes", "returns"])
def test_rebinding_makes_no_program(tg, place, does):
    _, step, made = run(tg, lambda tg: program(tg, place, does, "new"), True, CALLS)
    assert made.ways[2:] == ["replay"] * (CALLS - 2), step.explain()
    assert len(step.specialisations) <= 2


def check(tg, make, title):
    try:
        agreeing(tg, make, CALLS)
    except AssertionError as error:
        raise AssertionError(f"{title}: {error}") from error
