"""What code asks a module about its members is compared, also where it reads none of them."""

import pytest
from side_by_side import Program, batch

QUESTIONS = {
    "length of a sequence": lambda m: len(m.sequence),
    "length of a list": lambda m: len(m.list),
    "length of a dict": lambda m: len(m.dict),
    "length of parameters": lambda m: len(m.parameter_list),
    "length of named parameters": lambda m: len(m.parameter_dict),
    "a name in a dict": lambda m: "new" in m.dict,
    "a name in named parameters": lambda m: "new" in m.parameter_dict,
    "keys": lambda m: len(list(m.dict.keys())),
    "iteration": lambda m: sum(1 for _ in m.sequence),
    "truth": lambda m: bool(m.empty),
    "the last": lambda m: len(list(m.list[-1].parameters())),
    "a slice": lambda m: len(m.sequence[0:]),
    "an attribute": lambda m: hasattr(m.sequence, "new"),
    "a default": lambda m: getattr(m.sequence, "new", None) is not None,
    "an error": lambda m: attribute_or_none(m.layer) is not None,
    "a buffer": lambda m: hasattr(m.layer, "kept"),
    "a parameter": lambda m: hasattr(m.layer, "added"),
    "the table of modules": lambda m: len(m.sequence._modules),
    "the table of buffers": lambda m: "kept" in m.layer._buffers,
    "the table of parameters": lambda m: list(m.layer._parameters).index("bias") + len(m.layer._parameters),
    "the table among variables": lambda m: len(vars(m.sequence)["_modules"]),
    "the table in the dict": lambda m: len(m.sequence.__dict__["_modules"]),
    "children": lambda m: len(list(m.sequence.children())),
    "all modules": lambda m: len(list(m.modules())),
    "named parameters": lambda m: len(dict(m.layer.named_parameters())),
    "the state": lambda m: len(m.layer.state_dict()),
    "its text": lambda m: len(repr(m.sequence)),
}


def attribute_or_none(module):
    try:
        return module.added
    except AttributeError:
        return None


def model(tg):
    nn, whole = tg.nn, tg.nn.Module()
    whole.sequence, whole.list = nn.Sequential(nn.Linear(1, 1)), nn.ModuleList([nn.Linear(1, 1)])
    whole.dict, whole.empty = nn.ModuleDict({"a": nn.Linear(1, 1)}), nn.ModuleDict()
    whole.parameter_list = nn.ParameterList([tg.ones(1)])
    whole.parameter_dict, whole.layer = nn.ParameterDict({"a": tg.ones(1)}), nn.Linear(1, 1)
    return whole


def add(tg, whole):
    whole.sequence.add_module("new", tg.nn.ReLU())
    whole.list.append(tg.nn.ReLU())
    whole.dict["new"] = whole.empty["new"] = tg.nn.ReLU()
    whole.parameter_list.append(tg.ones(1))
    whole.parameter_dict["new"] = tg.ones(1)
    whole.layer.register_buffer("kept", tg.ones(1))
    whole.layer.added = tg.nn.Parameter(tg.ones(1))


@pytest.mark.long(fast=10)
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_follow_what_was_added(agree, question):
    def program(tg):
        whole = model(tg)

        def step(x):
            return x * float(QUESTIONS[question](whole))

        return Program(step, lambda i: (batch(tg, i, 3),), between=lambda i: add(tg, whole) if i == 3 else None)

    agree(program, calls=5)
