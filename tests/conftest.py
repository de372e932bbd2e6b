"""Fixtures that all tests share.

Tests take the library as the fixture `tg`. It is tracegrad; with TRACEGRAD_REFERENCE=torch in the environment it is
PyTorch, so that the tests themselves can be held against the behaviour that they claim. PyTorch is never needed
otherwise.
"""

import difflib
import gc
import importlib
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

try:
    from xdist.scheduler import LoadFileScheduling
except ImportError:  # one process runs all tests
    LoadFileScheduling = None

# The library and the tests are compiled to bytecode once, whatever the environment says: hundreds of processes that
# tests start would take a second each for that. What tests import later is theirs.
WRITES_NO_BYTECODE = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# The folder of this file holds `expected`, which the tests import whatever pytest's import mode is.
sys.path.insert(0, str(Path(__file__).parent))

import installed  # noqa: E402
import process_state  # noqa: E402
from c_compilers import WARNINGS  # noqa: E402
from expected.compare import assert_same_tree  # noqa: E402

from tracegrad.compiled import function  # noqa: E402
from tracegrad.compiled.common import collection  # noqa: E402
from tracegrad.compiler import pipeline  # noqa: E402
from tracegrad.runtime.program import Program as Library  # noqa: E402

# Where the package is an installed wheel, what lies beside it in a checkout is found here.
installed.add_what_is_not_installed()

# A shell that runs the tests in the background lets them ignore interrupts, and their processes, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test outlives a power failure: what is written need not wait for the disk.
os.fsync = lambda handle: None

# Whatever tests compile, by `tg.compile` too, gives no warnings.
pipeline.FLAGS = (*pipeline.FLAGS, *WARNINGS)

pytest_plugins = ["collecting", "cpu_seconds", "tiers"]
REFERENCE = os.environ.get("TRACEGRAD_REFERENCE", "tracegrad")
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden and show what changed")
    parser.addoption("--question-table", action="store_true", help="count how the questions of the table are served")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests run in one worker, unless --dist says otherwise: what they share is compiled once."""
    return LoadFileScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is made meanwhile is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Collections look at what tests make, not at thousands of tests, which hold nothing of theirs: a third of the time
    that these take."""
    sys.dont_write_bytecode = WRITES_NO_BYTECODE
    gc.collect()
    gc.freeze()
    collection.hides_holders = lambda: False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Nor at what the files before it have left, such as syntax trees of the whole package: 0.6 s for each collection,
    of which a recording may ask for one."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


def compiled(library, function):
    """`tg.compile(function)`; PyTorch serves as a reference of meaning only, so there it is the function itself."""
    return function if REFERENCE == "torch" else library.compile(function)


@pytest.fixture(scope="session")
def tg():
    return importlib.import_module(REFERENCE)


@pytest.fixture(autouse=True)
def fresh_random_numbers(request):
    """No test depends on the draws of another."""
    if "tg" in request.fixturenames:
        request.getfixturevalue("tg").manual_seed(0)


@pytest.fixture(autouse=True)
def process_is_as_before():
    """What a test leaves changed in its process makes others of the same worker other tests: threads, for one, begin
    with the modes that nobody has chosen."""
    before = process_state.state()
    yield
    after = process_state.state()
    assert after == before, {name: (before[name], after[name]) for name in after if after[name] != before[name]}


@pytest.fixture
def golden(request, capsys):
    """`golden(file, text)`: the text is what tests/golden/file holds; --update-golden writes it and shows the diff."""

    def compare(file, text):
        path, lines = GOLDEN / file, text.rstrip("\n").splitlines()
        kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        diff = "\n".join(difflib.unified_diff(kept, lines, f"golden/{file}", "now", lineterm=""))
        if diff and request.config.getoption("--update-golden"):
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            with capsys.disabled():
                print(f"\n{diff}")
        elif diff:
            pytest.fail(f"{diff}\nIf this change is wanted: pytest --update-golden", pytrace=False)

    return compare


@pytest.fixture(params=["eager", "compiled"])
def mode(request):
    return request.param


@pytest.fixture
def maybe_compile(tg, mode):
    """The function itself or its compiled form, by mode: for steps that keep state between calls."""
    return lambda function: compiled(tg, function) if mode == "compiled" else function


@pytest.fixture
def call(tg, mode):
    """`call(function, make_args)`: the result of one call from fresh arguments, in each mode.

    In compiled mode every one of several calls, each from fresh arguments, has the eager result and leaves the eager
    `.grad` in its arguments.
    """

    def run(function, make_args=tuple):
        if mode == "eager":
            return function(*make_args())
        program = compiled(tg, function)
        # The first call runs eagerly, the second confirms the recording, later ones run the C. Other values in between
        # show what was frozen by mistake.
        for prepare in (list, list, varied, varied, list):
            args = prepare(make_args())
            expected = function(*args)
            fresh = prepare(make_args())
            result = program(*fresh)
            assert_same_tree(result, expected)
            assert_same_tree([leaf_grad(arg) for arg in fresh], [leaf_grad(arg) for arg in args])
        return result

    return run


def varied(args):
    """The arguments with other numbers in the floating tensors."""
    return [other_numbers(arg) if hasattr(arg, "detach") and arg.is_floating_point() else arg for arg in args]


def other_numbers(tensor):
    return (tensor.detach() * 0.75 + 0.125).requires_grad_(tensor.requires_grad)


def leaf_grad(arg):
    return arg.grad if getattr(arg, "is_leaf", False) else None


@pytest.fixture
def c_calls(monkeypatch):
    """A list that grows by one with each call into C, but for those that TRACEGRAD_VERIFY=1 adds."""
    made, provide, check = [], pipeline.provide, function.check

    def checking(*call):
        before = len(made)
        check(*call)
        del made[before:]

    def counting(name, units):
        built = provide(name, units)
        call = built.program.call
        return replace(built, program=Library(built.path, lambda pointer: (made.append(pointer), call(pointer))[1]))

    monkeypatch.setattr(pipeline, "provide", counting)
    monkeypatch.setattr(function, "check", checking)
    return made
