"""Every public class, and every function beside them, says what it is, shows it in an example and has types."""

import inspect
import re

import pytest

import tracegrad

#: Where people find them: the paths of modules.
PLACES = """
    nn nn.init nn.attention nn.parallel nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations
    nn.utils.prune nn.utils.stateless optim optim.lr_scheduler optim.swa_utils utils.data utils.checkpoint autograd
    autograd.functional autograd.forward_ad autograd.graph autograd.profiler amp func distributions
    distributions.constraints distributions.transforms distributions.kl distributions.utils accelerator backends cpu
    cuda distributed mps multiprocessing xpu
""".split()

#: Folders whose classes and functions these are; what is found at a place besides is another chapter's.
HOMES = {"autograd", "devices", "distributions", "func", "nn", "optim", "utils"}

EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)

#: Parameters that may be anything, and why.
ANYTHING = {
    "kwargs": "is handed on", "args": "is handed on", "self": "is the object", "cls": "is the class",
    "obj": "is pickled", "object_list": "is pickled", "scatter_object_input_list": "is pickled",
    "scatter_object_output_list": "is pickled", "object_gather_list": "is pickled",
    "Sequential.forward(input)": "is what the first member takes", "default_convert(data)": "is converted or returned",
}  # fmt: skip


def public(place):
    """(name, thing) of the classes and functions at a place that belong to these folders."""
    owner = tracegrad
    for name in place.split("."):
        owner = getattr(owner, name)
    for name in sorted(getattr(owner, "__all__", None) or dir(owner)):
        thing = getattr(owner, name, None)
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        home = (thing.__module__ or "").split(".")
        if home[0] == "tracegrad" and home[1:2] and home[1] in HOMES and not _is_own_business(owner, name):
            yield name, thing


def _is_own_business(owner, name):
    """Names that modules without ``__all__`` have for their own use: PyTorch's do not show them."""
    return name in {"answering", "refusing", "deprecated", "Refused", "all_of", "dependent", "send_by_descriptor"} or (
        name == "stretches"
    )


def lacks(thing):
    doc = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    lines = [line for line in (doc or "").split("\n") if line.strip()]
    return [*(["more than one line"] * (len(lines) < 2)), *(["an example"] * (not EXAMPLE.search(doc or "")))]


@pytest.mark.parametrize("place", PLACES)
def test_they_are_described(place):
    found = {name: lacks(thing) for name, thing in public(place)}
    assert found
    assert {name: lacking for name, lacking in found.items() if lacking} == {}


def test_there_are_many():
    assert sum(1 for place in PLACES for _ in public(place)) > 600


def untyped(function):
    """Parameters without a type, or with one that says nothing."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ANYTHING
        and not name.startswith("_")
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.annotation in (parameter.empty, "Any", "Any | None")
    ]


@pytest.mark.parametrize(
    "place", ["nn", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.prune", "optim", "utils.data"]
)
def test_arguments_have_types(place):
    found = set()
    for name, thing in public(place):
        methods = [thing.__init__, getattr(thing, "forward", None)] if inspect.isclass(thing) else [thing]
        for method in filter(inspect.isfunction, methods):
            path = name if method is thing else f"{name}.{method.__name__}"
            found |= {f"{path}({parameter})" for parameter in untyped(method)}
    assert found - set(ANYTHING) == set()
