"""Arguments of which a function reads some entries by name: what it does not read is no guard, all else is."""

import collections
import dataclasses
import types

import pytest
from side_by_side import Program, agreeing, ramp, run

CALLS = 8


@dataclasses.dataclass
class Example:
    x: object
    id: str
    weight: float = 1.0


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class WithDefault(Plain):
    weight = 2.0


class WithProperty(Plain):
    @property
    def weight(self):
        return self.own["weight"] * 2

    @weight.setter
    def weight(self, value):
        vars(self)["own"] = {"weight": value}


class Answering(Plain):
    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        return found * 3 if name == "weight" else found


class Lacking:
    """Keeps its weight elsewhere."""

    def __init__(self, x, id, weight):
        self.x, self.id, self.kept = x, id, weight

    def __getattr__(self, name):
        if name != "weight":
            raise AttributeError(name)
        return self.kept * 2


class Slotted:
    __slots__ = ("id", "weight", "x")

    def __init__(self, x, id, weight):
        self.x, self.id, self.weight = x, id, weight


class Tripling(dict):
    def __getitem__(self, key):
        found = super().__getitem__(key)
        return found * 3 if key == "weight" else found


class Defaulting(dict):
    def __missing__(self, key):
        return 5.0


Named = collections.namedtuple("Named", ["x", "id", "weight"])

KINDS = {
    "dict": dict, "OrderedDict": collections.OrderedDict, "Tripling": Tripling, "Defaulting": Defaulting,
    "Example": Example, "Plain": Plain, "WithDefault": WithDefault, "WithProperty": WithProperty,
    "Answering": Answering, "Lacking": Lacking, "Slotted": Slotted, "Named": Named,
    "SimpleNamespace": types.SimpleNamespace,
}  # fmt: skip

# R(name) is a read by name: an entry or an attribute.
BODIES = {
    "reads": "return R(x) * 2",
    "reads a number": "return R(x) * R(weight)",
    "asks a number": "return R(x) * 2 if R(weight) > 1.2 else R(x) * 3",
    "asks the text": "return R(x) * len(R(id))",
    "compares the text": "return R(x) * 2 if R(id) == 'id-2' else R(x)",
    "writes": "R(x).mul_(2.0); return R(x) + 1",
    "returns it": "return R(x), R(weight)",
    "hands it on": "f = lambda e: e; return R(x) * 2 if f(e) is not None else 1",
    "closes over it": "f = lambda: e; f(); return R(x) * R(weight)",
    "rebinds it": "y = R(x); e = None; return y * 2",
    "counts": "return R(x) * len(vars(e)) if not hasattr(e, 'keys') else R(x) * len(e)",
    "locals": "return R(x) * len(str(locals()['e'].id if not hasattr(e, 'keys') else locals()['e']['id']))",
    "a choice": "return (e if R(weight) > 1.2 else e) and R(x) * R(weight)",
    "in a loop": "y = 0.0\n    for _ in range(2):\n        y = y + R(x) * R(weight)\n    return y",
    "fails": "return R(x) * R(nothing)",
    "catches": "try:\n        return R(x) * R(nothing)\n    except (KeyError, AttributeError):\n        return R(x)",
    "sets": "S(id, 'seen'); return R(x) * 2",
}


def made_of(kind, i, x, change):
    entries = {"x": x, "id": f"id-{i}", "weight": 1.0 + i / 4}
    if change == "one weight":
        entries["weight"] = 1.5
    if change == "an entry goes" and i in (3, 5) and kind not in (Example, Lacking, Slotted, Named, WithProperty):
        del entries["weight"]
    if change == "an entry comes" and i in (3, 5) and issubclass(kind, (dict, Plain, types.SimpleNamespace)):
        entries["nothing"] = 2.0
    if change == "the type" and i in (3, 5):
        entries["weight"] = 2
    return kind(**entries)


CHANGES = [
    "all of it",
    "one weight",
    "an entry goes",
    "an entry comes",
    "the type",
    "the kind",
    "the class",
    "one object",
]


def program(tg, kind, body, change):
    kind = KINDS[kind]
    is_changed = change == "the class" and issubclass(kind, Plain)
    kind = type(kind.__name__, (kind,), {"__module__": __name__}) if is_changed else kind
    as_items = issubclass(kind, dict)
    text = BODIES[body]
    for name in ("x", "weight", "id", "nothing"):
        text = text.replace(f"R({name})", f"e['{name}']" if as_items else f"e.{name}")
    text = text.replace("S(id, 'seen')", "e['id'] = 'seen'" if as_items else "e.id = 'seen'")
    space = {"tg": tg}
    exec(f"def step(e):\n    {text}", space)
    xs = [ramp(tg, 2, 2) * (i + 1) for i in range(CALLS)]
    one = []

    def args(i):
        if change == "one object":
            one.append(one[0] if one else made_of(kind, 0, xs[0], change))
            return (one[0],)
        other = Plain if kind is Example else Example
        return (made_of(other if change == "the kind" and i in (3, 5) and not as_items else kind, i, xs[i], change),)

    def between(i):
        if is_changed:
            kind.weight = property(lambda self: 9.0) if i in (3, 5) else 4.0

    raises = (KeyError, AttributeError, TypeError, dataclasses.FrozenInstanceError)
    return Program(space["step"], args, lambda: xs, between, raises=raises)


CASES = [(k, b) for k in KINDS for b in BODIES]


@pytest.mark.parametrize(
    ("kind", "body"),
    [case if n % 16 == 0 else pytest.param(*case, marks=pytest.mark.long(every=19)) for n, case in enumerate(CASES)],
)
def test_what_is_read_is_compared(tg, kind, body):
    for change in CHANGES:
        try:
            agreeing(tg, lambda tg: program(tg, kind, body, change), CALLS)  # noqa: B023
        except AssertionError as error:
            raise AssertionError(f"{change}: {error}") from error


@pytest.mark.parametrize("kind", ["dict", "OrderedDict", "Example", "Plain", "WithDefault"])
@pytest.mark.parametrize("body", ["reads", "reads a number", "writes", "in a loop"])
def test_what_is_not_read_is_no_guard(tg, kind, body):
    _, step, made = run(tg, lambda tg: program(tg, kind, body, "all of it"), True, CALLS)
    assert made.ways[3:] == ["replay"] * (CALLS - 3), step.explain()
    assert len(step.specialisations) <= 3
