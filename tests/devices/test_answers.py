"""Device talk is answered as PyTorch's build for CPUs answers it: values, errors and their words, warnings."""

import doctest
import importlib
import inspect
import json

import pytest
from expected.device_talk import STORED, answer, expressions

import tracegrad as tg
from tracegrad.tooling import compiler

WANTED = json.loads(STORED.read_text(encoding="utf-8"))
#: Errors whose class is PyTorch's and whose words are others: PyTorch's are about its own libraries.
OTHER_WORDS = ("Could not run 'aten::", "module '_C' has no attribute", "unsupported scalarType", "has no attribute")
#: Another warning or way of printing, which no program depends on.
KNOWN = {
    "torch.distributed.ReduceOp.MAX.__class__",  # an enumeration of Python's
    "torch.set_default_tensor_type('torch.cuda.FloatTensor')",  # PyTorch warns of its own name, too
}
#: NotImplementedError is a RuntimeError: both `except` clauses that programs have catch it.
SUBCLASSES = {("RuntimeError", "NotImplementedError")}


class Torch:
    """The package with PyTorch's ``compiler``, as programs meet it under PyTorch's name."""

    compiler = compiler

    def __getattr__(self, name):
        return getattr(tg, name)


def key_phrase(words):
    """The first five words, which say what is wrong."""
    return " ".join(words.split()[:5]).rstrip(".,:")


@pytest.fixture(scope="module")
def answers():
    found = {expression: answer(expression, Torch()) for expression in expressions()}
    tg.set_default_tensor_type("torch.FloatTensor")
    return found


def test_there_are_many_of_each_kind():
    kinds = [told[0] for told in WANTED.values()]
    assert len(kinds) > 700 and kinds.count("error") > 250 and kinds.count("value") > 400


def test_values_are_pytorchs(answers):
    def of(table):
        return {
            e: (t[1] if t[1][:1] != "{" else sorted(t[1][1:-1].split(", "))) for e, t in table.items() if e not in KNOWN
        }

    wanted = {expression: told for expression, told in WANTED.items() if told[0] == "value"}
    assert of({e: answers[e] for e in wanted}) == of(wanted)


def test_errors_are_pytorchs(answers):
    wrong = {}
    for expression, told in WANTED.items():
        if told[0] != "error" or expression in KNOWN:
            continue
        found = answers[expression]
        is_class = found[1] == told[1] or (told[1], found[1]) in SUBCLASSES
        is_told = any(words in told[2] for words in OTHER_WORDS) or key_phrase(told[2]) in found[2]
        if found[0] != "error" or not is_class or not is_told:
            wrong[expression] = (told[1:3], found[1:3])
    assert wrong == {}


def test_warnings_are_pytorchs(answers):
    heard = {e: told[-1] for e, told in answers.items() if e not in KNOWN}
    assert heard == {e: told[-1] for e, told in WANTED.items() if e not in KNOWN}


def test_errors_say_what_to_do(answers):
    """What, where, what to do: of errors that name a device in PyTorch, ours are longer."""
    for expression in ("torch.zeros(2,device='cuda')", "x.to('cuda')", "m.to('cuda')", "x.cuda()"):
        assert "is_available()" in answers[expression][2] or "Choose" in answers[expression][2]


@pytest.mark.parametrize(
    "path",
    "cuda cuda.amp cuda.amp.autocast_mode cuda.amp.grad_scaler cuda.random cuda.memory cuda.nvtx amp amp.autocast_mode "
    "amp.grad_scaler cpu cpu.amp backends backends.cudnn backends.cuda backends.mps backends.mkl backends.mkldnn "
    "backends.openmp mps xpu accelerator distributed multiprocessing jit onnx hub profiler testing types version "
    "autograd.profiler nn.parallel nn.parallel.distributed nn.parallel.data_parallel utils.model_zoo utils.collect_env "
    "utils.benchmark utils.data.distributed utils.deterministic overrides".split(),
)
def test_paths_are_modules(path):
    module = importlib.import_module(f"tracegrad.{path}")
    assert module.__class__.__mro__[-2].__name__ == "module" and module.__doc__


def test_flags_are_plain_attributes():

    cudnn, same = tg.backends.cudnn, importlib.import_module("tracegrad.backends.cudnn")

    before = cudnn.benchmark
    same.benchmark = True
    try:
        assert tg.backends.cudnn.benchmark is True
        with cudnn.flags(enabled=False, deterministic=True):
            assert not cudnn.enabled and cudnn.deterministic and not cudnn.benchmark
        assert cudnn.enabled and not cudnn.deterministic and cudnn.benchmark
    finally:
        cudnn.benchmark = before


def test_the_default_device_is_that_of_new_tensors():
    tg.set_default_device("cuda")
    try:
        for make in (lambda: tg.zeros(2), lambda: tg.tensor([1.0]), lambda: tg.rand(2), lambda: tg.nn.Linear(1, 1)):
            with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
                make()
        with tg.device("cpu"):
            assert tg.zeros(2).device == tg.device("cpu")
        assert tg.zeros(2, device="cpu").sum() == 0
    finally:
        tg.set_default_device(None)
    assert tg.zeros(1).item() == 0


#: Modules with functions that are made of what they answer: doctest's finder takes them for others' functions.
MADE = ("accelerator", "backends", "cpu", "cuda", "cuda.memory", "cuda.random", "distributed", "mps", "xpu")


@pytest.mark.parametrize("path", MADE)
def test_examples_of_functions_that_are_made_of_their_answers(path):
    module, runner, report, count = importlib.import_module(f"tracegrad.devices.{path}"), doctest.DocTestRunner(), [], 0
    for name, function in inspect.getmembers(module, callable):
        if name.startswith("_") or ">>> " not in (function.__doc__ or ""):
            continue
        test = doctest.DocTestParser().get_doctest(function.__doc__, {}, f"{path}.{name}", None, None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *args, **options: None)
            runner.run(test, out=report.append)
        count += 1
    assert runner.failures == 0, "".join(report)
    assert count >= 2
