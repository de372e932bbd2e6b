"""Dataclasses, named tuples, enumerations and what classes have by themselves, changed after calls were replayed."""

import collections
import dataclasses
import enum
import typing

import pytest
from compiled.changing import Programs, assert_changes_are_noticed

program = Programs()


class Plain:
    """Holds what it is given."""

    def __init__(self, **given):
        vars(self).update(given)


@dataclasses.dataclass
class Options:
    """Options with a default."""

    scale: float = 2.0
    names: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """The same, not to be changed."""

    scale: float = 2.0


@program
def default_of_a_dataclass(tg):
    return lambda x: x * Options().scale, lambda v: setattr(Options.__init__, "__defaults__", (v, *_rest(Options)))


def _rest(kind):
    return kind.__init__.__defaults__[1:]


@program
def default_of_a_field(tg):
    field = Options.__dataclass_fields__["scale"]
    return lambda x: x * dataclasses.fields(Options)[0].default, lambda v: setattr(field, "default", v)


@program
def factory_of_a_dataclass(tg):
    box = [2.0]

    @dataclasses.dataclass
    class Made:
        scale: float = dataclasses.field(default_factory=lambda: box[0])

    return lambda x: x * Made().scale, lambda v: box.__setitem__(0, v)


@program
def frozen_dataclass_with_slots(tg):
    options = Frozen()
    return lambda x: x * options.scale, lambda v: object.__setattr__(options, "scale", v)


@program
def dataclass_as_a_dict(tg):
    options = Options()
    return lambda x: x * dataclasses.asdict(options)["scale"], lambda v: setattr(options, "scale", v)


@program
def dataclass_replaced_in_the_step(tg):
    options = Options()
    return lambda x: x * dataclasses.replace(options, names=[1]).scale, lambda v: setattr(options, "scale", v)


@program
def post_init_of_a_dataclass(tg):
    @dataclasses.dataclass
    class Made:
        scale: float = 2.0

        def __post_init__(self):
            self.scale *= 2

    def change(v):
        Made.__post_init__ = lambda self: setattr(self, "scale", self.scale * v)

    return lambda x: x * Made().scale, change


@program
def metadata_of_a_field(tg):
    table = {"scale": 2.0}

    @dataclasses.dataclass
    class Made:
        scale: float = dataclasses.field(default=1.0, metadata=table)

    return lambda x: x * dataclasses.fields(Made)[0].metadata["scale"], lambda v: table.update(scale=v)


Point = collections.namedtuple("Point", "scale other", defaults=(2.0, 1.0))


class Typed(typing.NamedTuple):
    """A named tuple with a default."""

    scale: float = 2.0


@program
def default_of_a_named_tuple(tg):
    return lambda x: x * Point().scale, lambda v: setattr(Point.__new__, "__defaults__", (v, 1.0))


@program
def default_of_a_typed_tuple(tg):
    return lambda x: x * Typed().scale, lambda v: setattr(Typed.__new__, "__defaults__", (v,))


@program
def table_of_defaults_of_a_named_tuple(tg):
    return lambda x: x * Point._field_defaults["scale"], lambda v: Point._field_defaults.update(scale=v)


@program
def property_of_a_named_tuple(tg):
    class Own(collections.namedtuple("Own", "scale")):
        factor = 2.0
        both = property(lambda self: self.scale * self.factor)

    own = Own(3.0)
    return lambda x: x * own.both, lambda v: setattr(Own, "factor", v)


# -------------------------------------------------------------------------------------------------------------- enums


def kinds_of_enum():
    class Kind(enum.Enum):
        A = 2.0
        B = 3.0

    return Kind


@program
def value_of_a_member(tg):
    kind = kinds_of_enum()
    return lambda x: x * kind.A.value, lambda v: setattr(kind.A, "_value_", v)


@program
def value_of_a_member_in_a_variable(tg):
    member = kinds_of_enum().A
    return lambda x: x * member.value, lambda v: setattr(member, "_value_", v)


@program
def name_of_a_member(tg):
    member = kinds_of_enum().A
    return lambda x: x * (2.0 if member.name == "A" else 5.0), lambda v: setattr(
        member, "_name_", "A" if v == 2 else "C"
    )


@program
def attribute_of_a_member(tg):
    kind = kinds_of_enum()
    kind.A.scale = 2.0
    return lambda x: x * kind.A.scale, lambda v: setattr(kind.A, "scale", v)


@program
def member_by_its_value(tg):
    kind = kinds_of_enum()
    kind.A.scale, kind.B.scale = 2.0, 5.0
    members = {2.0: kind.A, 5.0: kind.B}
    return lambda x: x * kind(2.0).scale, lambda v: kind._value2member_map_.__setitem__(2.0, members[v])


@program
def member_by_its_name(tg):
    kind = kinds_of_enum()
    kind.A.scale, kind.B.scale = 2.0, 5.0
    members = {2.0: kind.A, 5.0: kind.B}
    return lambda x: x * kind["A"].scale, lambda v: kind._member_map_.__setitem__("A", members[v])


@program
def members_gone_through(tg):
    kind = kinds_of_enum()
    return lambda x: x * sum(m.value for m in kind), lambda v: setattr(kind.A, "_value_", v)


@program
def members_in_another_order(tg):
    kind = kinds_of_enum()
    return lambda x: x * next(iter(kind)).value, lambda v: kind._member_names_.reverse()


@program
def missing_member(tg):
    class Kind(enum.Enum):
        A = 2.0
        B = 5.0

        @classmethod
        def _missing_(cls, value):
            return cls.A

    members = {2.0: Kind.A, 5.0: Kind.B}
    return lambda x: x * Kind("?").value, lambda v: setattr(Kind, "_missing_", classmethod(lambda cls, _: members[v]))


@program
def flags_combined(tg):
    class Flag(enum.Flag):
        A = 1
        B = 2

    return lambda x: x * (Flag.A | Flag.B).value, lambda v: setattr(Flag.B, "_value_", int(v))


@program
def flag_contained(tg):
    class Flag(enum.Flag):
        A = 1
        B = 2

    box = Plain(flags=Flag.A)
    return lambda x: x * (2.0 if Flag.A in box.flags else 5.0), lambda v: setattr(
        box, "flags", Flag.A if v == 2.0 else Flag.B
    )


@program
def method_of_an_enum(tg):
    class Kind(enum.Enum):
        A = 2.0

        def scale(self):
            return self._value_

    return lambda x: x * Kind.A.scale(), lambda v: setattr(Kind, "scale", lambda self: v)


@program
def member_of_an_int_enum(tg):
    class Kind(enum.IntEnum):
        A = 2

    return lambda x: x * Kind.A.value, lambda v: setattr(Kind.A, "_value_", int(v))


# ------------------------------------------------------------------------------------------- what a class has by itself


@program
def name_of_a_class(tg):
    kind = type("Kind", (), {})
    return lambda x: x * len(kind.__name__), lambda v: setattr(kind, "__name__", "K" * int(v))


@program
def qualified_name_of_a_class(tg):
    kind = type("Kind", (), {})
    return lambda x: x * len(kind.__qualname__), lambda v: setattr(kind, "__qualname__", "K" * int(v))


@program
def module_of_a_class(tg):
    kind = type("Kind", (), {"__module__": "ab"})
    return lambda x: x * len(kind.__module__), lambda v: setattr(kind, "__module__", "a" * int(v))


@program
def text_of_a_class(tg):
    kind = type("Kind", (), {"__doc__": "ab"})
    return lambda x: x * len(kind.__doc__), lambda v: setattr(kind, "__doc__", "a" * int(v))


@program
def annotations_of_a_class(tg):
    kind = type("Kind", (), {"__annotations__": {"a": 2.0}})
    return lambda x: x * kind.__annotations__["a"], lambda v: kind.__annotations__.update(a=v)


@program
def name_of_the_class_of_an_object(tg):
    kind = type("Kind", (), {})
    thing = kind()
    return lambda x: x * len(type(thing).__name__), lambda v: setattr(kind, "__name__", "K" * int(v))


@program
def attribute_of_a_class_by_dunder_name(tg):
    kind = type("Kind", (), {"__scale__": 2.0})
    return lambda x: x * kind.__scale__, lambda v: setattr(kind, "__scale__", v)


@program
def attribute_of_an_object_by_dunder_name(tg):
    thing = Plain(__scale__=2.0)
    return lambda x: x * thing.__scale__, lambda v: setattr(thing, "__scale__", v)


@program
def arguments_of_a_generic_alias(tg):
    box = Plain(alias=tuple[int, int])
    aliases = {2.0: tuple[int, int], 5.0: tuple[int, int, int, int, int]}
    return lambda x: x * len(box.alias.__args__), lambda v: setattr(box, "alias", aliases[v])


@program
def patterns_of_a_match_statement(tg):
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 2.0, 5.0

    pair, orders = Pair(), {2.0: ("a", "b"), 5.0: ("b", "a")}

    def step(x):
        match pair:
            case Pair(first, _):
                return x * first

    return step, lambda v: setattr(Pair, "__match_args__", orders[v])


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_records(tg, make):
    assert_changes_are_noticed(tg, make)
