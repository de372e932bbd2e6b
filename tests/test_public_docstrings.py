"""Every public function says what it computes, shows it in an example that holds, and has types in its signature."""

import doctest
import importlib
import inspect
import re

import pytest

import tracegrad

#: Where people find functions: the path of a module or class.
PLACES = ("tracegrad", "nn.functional", "linalg", "fft", "special", "Tensor")

#: Parameters and results that may be anything, and why.
ANYTHING = {
    "Tensor.tolist(return)": "a number, or lists nested as deep as there are axes",
    "Tensor.as_subclass(return)": "an object of the class that is given",
    **dict.fromkeys(
        ("tracegrad.save(obj)", "tracegrad.load(return)", "tracegrad.load(pickle_load_args)"),
        "whatever pickle stores",
    ),
    **dict.fromkeys(
        ("tracegrad.save(f)", "tracegrad.load(f)", "tracegrad.save(pickle_module)", "tracegrad.load(pickle_module)"),
        "a path or what has a file's methods; a module with pickle's",
    ),
    "tracegrad.load(map_location)": "a device, its name, a table of names or a function",
    "tracegrad.compile(options)": "PyTorch's, which are accepted and named in a warning",
    "tracegrad.compile(return)": "a function like the one given, or a decorator: its overloads tell",
}

#: A function of the program's own takes and returns what it likes.
FUNCTION = re.compile(r"Callable\[\.\.\., Any\]")
EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


def owner_of(place):
    owner = tracegrad
    for name in [] if place == "tracegrad" else place.split("."):
        owner = getattr(owner, name)
    return owner


def members(place):
    """(path, function) of all public functions at a place that are the package's own; each once."""
    owner, seen = owner_of(place), set()
    for name in sorted(getattr(owner, "__all__", None) or dir(owner)):
        if name.startswith("_"):
            continue
        thing = inspect.getattr_static(owner, name) if inspect.isclass(owner) else getattr(owner, name, None)
        thing = thing.__func__ if isinstance(thing, (staticmethod, classmethod)) else thing
        if not inspect.isfunction(thing) or id(thing) in seen:
            continue
        seen.add(id(thing))
        yield f"{place}.{name}", thing


def lacking_words(function):
    """What a docstring lacks; nothing where it is complete."""
    doc = inspect.getdoc(function) or ""
    lines = [line for line in doc.split("\n") if line.strip()]
    return [
        *(["more than one line"] * (len(lines) < 2)),
        *(["an example"] * (not EXAMPLE.search(doc))),
    ]


def lacking_types(function):
    """Parameters (and ``return``) without a type, or with one that says nothing."""
    signature = inspect.signature(function)
    told = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    first = next(iter(told), "")
    told = {name: of for name, of in told.items() if not (name == first == "self")}
    told["return"] = signature.return_annotation
    return [
        name
        for name, of in told.items()
        if of is inspect.Signature.empty or re.search(r"\bAny\b", FUNCTION.sub("Callable", str(of)))
    ]


@pytest.mark.parametrize("place", PLACES)
def test_functions_are_described(place):
    lacking = {path: lacking_words(function) for path, function in members(place)}
    assert len(lacking) > 5
    assert {path: lacks for path, lacks in lacking.items() if lacks} == {}


@pytest.mark.parametrize("place", PLACES)
def test_signatures_have_types(place):
    found = {f"{path}({name})" for path, function in members(place) for name in lacking_types(function)}
    assert found - set(ANYTHING) == set()


def test_no_exception_is_out_of_date():
    everything = [pair for place in PLACES for pair in members(place)]
    untyped = {f"{path}({name})" for path, function in everything for name in lacking_types(function)}
    assert set(ANYTHING) - untyped == set()


def examples_outside_of_modules():
    """Examples of generated docstrings: ``tests/test_docstrings.py`` finds those that stand in a module's text."""
    texts = {}
    for place in PLACES:
        for path, function in members(place):
            doc = inspect.getdoc(function) or ""
            if EXAMPLE.search(doc):
                texts.setdefault(doc[EXAMPLE.search(doc).start() :], (path, inspect.unwrap(function).__globals__))
    return texts


@pytest.mark.parametrize("place", PLACES)
def test_examples_hold(place, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path))
    parser, runner, report = doctest.DocTestParser(), doctest.DocTestRunner(), []
    for text, (path, names) in examples_outside_of_modules().items():
        if path.rpartition(".")[0] == place:
            tracegrad.manual_seed(0)
            runner.run(parser.get_doctest(text, dict(names), path, None, None), out=report.append)
    assert runner.failures == 0, "".join(report)


#: Ops that take numbers by `operands.checked`, which knows no annotations.
OPS = ["arithmetic", "comparison", "division", "elementary", "logic", "trigonometry"]


@pytest.mark.parametrize("module", OPS)
def test_signatures_say_which_operands_may_be_numbers(tg, module):
    ops = importlib.import_module(f"tracegrad.ops.{module}")
    public = {n: getattr(tg, n) for n, op in vars(ops).items() if hasattr(op, "primitive") and hasattr(tg, n)}
    for name, function in public.items():
        if name in ("add", "sub", "div", "pow", "where"):  # functions of their own
            continue
        parameters = inspect.signature(function).parameters
        for position, (parameter, of) in enumerate(parameters.items()):
            operands = [tg.tensor([2] if "bitwise" in name or "logical" in name else [0.5])] * len(parameters)
            operands[position] = 1
            if of.annotation == "Tensor | Number":
                function(*operands)
            else:
                with pytest.raises(TypeError, match=parameter):
                    function(*operands)
