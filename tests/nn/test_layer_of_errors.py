"""Errors in a module's call say which layer was called with what, and where; tracebacks show the program's frames."""

import copy
import inspect
import pdb
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad import nn

PACKAGE = Path(tg.__file__).parent
HERE = Path(__file__)


class Refusing(nn.Module):
    """Raises errors of its own."""

    def forward(self, x, kind="key"):
        if kind == "key":
            return {}["absent"]  # line of key
        if kind == "chained":
            try:
                return {}["absent"]
            except KeyError as error:
                raise ValueError("a setting is absent") from error  # line of chained
        return x @ tg.ones(3, 3)  # line of functional


class HoldsInList(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = [nn.Linear(5, 5), nn.Linear(7, 5)]

    def forward(self, x):
        return self.plain[1](x)  # line of held


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 16)
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Sequential(nn.Linear(30, 4)))
        self.layers = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(15, 16)])
        self.tied = self.layers[2]
        self.table = nn.ModuleDict({"rnn": nn.LSTM(8, 4)})
        self.refusing = Refusing()
        self.held = HoldsInList()
        self.hooked = nn.Linear(16, 2)
        self.hooked.register_forward_pre_hook(self.hook)

    def hook(self, module, args):
        raise RuntimeError("refused by a hook")  # line of hook

    def forward(self, x, way="ok"):
        if way == "sequential":
            return self.body(x)  # line of sequential
        if way == "loop":
            for layer in self.layers:
                x = layer(x)  # line of loop
            return x
        if way == "number":
            return self.embedding(x)  # line of number
        if way == "dict":
            return self.table["rnn"](x, (x, x))  # line of dict
        if way == "functional":
            return self.refusing(x, "functional")
        if way == "key":
            return self.refusing(x)
        if way == "chained":
            return self.refusing(x, kind="chained")
        if way == "held":
            return self.held(x)
        if way == "hook":
            return self.hooked(x)  # line of hooked
        if way == "arguments":
            return self.body(x, x)  # line of arguments
        if way == "operand":
            return self.layers[0]([1.0, 2.0])  # line of operand
        return self.body[0](x) * 2


MATRICES = "mat1 and mat2 shapes cannot be multiplied"
#: way: (class of the error, how its text begins, layer and what it got, comment of the program's line)
CASES = {
    "sequential": (
        RuntimeError,
        f"{MATRICES} (5x32 and 30x4)",
        "Net.body.2.0: Linear(in_features=30, out_features=4, bias=True) got [5, 32]",
        "sequential",
    ),
    "loop": (
        RuntimeError,
        f"{MATRICES} (5x16 and 15x16)",
        "Net.tied (also layers.2): Linear(in_features=15, out_features=16, bias=True) got [5, 16]",
        "loop",
    ),
    "number": (IndexError, "index out of range in self", "Net.embedding: Embedding(10, 16) got [2] int64", "number"),
    "dict": (RuntimeError, "", "Net.table.rnn: LSTM(8, 4) got [5, 16], ([5, 16], [5, 16])", "dict"),
    "functional": (RuntimeError, MATRICES, "Net.refusing: Refusing() got [5, 16], 'functional'", "functional"),
    "key": (KeyError, "'absent'", "Net.refusing: Refusing() got [5, 16]", "key"),
    "chained": (ValueError, "a setting is absent", "Net.refusing: Refusing() got [5, 16], kind='chained'", "chained"),
    "held": (
        RuntimeError,
        MATRICES,
        "Net.held.plain[1]: Linear(in_features=7, out_features=5, bias=True) got [5, 16]",
        "held",
    ),
    "hook": (
        RuntimeError,
        "refused by a hook",
        "Net.hooked: Linear(in_features=16, out_features=2, bias=True) got [5, 16]",
        "hook",
    ),
    "arguments": (TypeError, "", "Net.body: Sequential() got [5, 16], [5, 16]", "arguments"),
    "operand": (
        TypeError,
        "linear(): argument 'input' (position 1) must be Tensor, not list",
        "Net.layers.0: Linear(in_features=16, out_features=16, bias=True) got [1.0, 2.0]",
        "operand",
    ),
}


def line_of(comment):
    lines = HERE.read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if line.endswith(f"# line of {comment}")]
    return f"{HERE}:{number}"


def argument(way):
    return tg.tensor([3, 12]) if way == "number" else tg.ones(5, 16)


def eager(step, good):
    return step


def recorded(step, good):
    return tg.compile(step)


def replayed(step, good):
    program = tg.compile(step)
    for args in good * 4:
        program(*args)
    assert program.way == "replay"
    return program


def rerecorded(step, good):
    def looking(*args):
        total = step(*args)
        return total if float(total) > -1e9 else None

    program = tg.compile(looking)
    for args in good * 6:
        program(*args)
    assert program.way == "re-record"
    return program


def deferred(step, good):
    program = tg.deferred()(step)
    for args in good * 6:
        program(*args)
    return program


WAYS = [eager, recorded, replayed, rerecorded, deferred]


def error_of(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error
    return pytest.fail("no error")


def frames(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.long(fast=5, every=2)
@pytest.mark.parametrize("serve", WAYS)
@pytest.mark.parametrize("way", CASES)
def test_errors_name_the_layer(way, serve):
    net = Net()
    kind, text, layer, comment = CASES[way]

    def step(x, way):
        return net(x, way).sum()

    program = serve(step, [(tg.ones(5, 16), "ok"), (tg.tensor([3, 9]), "number")])
    error = error_of(program, argument(way), way)
    assert type(error) is kind
    assert str(error).startswith(text)
    assert error.__notes__ == [f"  in {layer}\n  at {line_of(comment)}"]
    assert not [file for file in frames(error) if Path(file).is_relative_to(PACKAGE) and "tests" not in file]
    assert frames(error)[-1] == str(HERE)
    shown = "".join(traceback.format_exception(error))
    assert shown.endswith(f"  in {layer}\n  at {line_of(comment)}\n")


def test_errors_keep_object_arguments_and_chain():
    raised = []

    class Raises(nn.Module):
        def forward(self, x):
            raised.append(OSError(2, "absent", "file"))
            raise raised[0] from ValueError("why")

    error = error_of(nn.Sequential(Raises()), tg.ones(1))
    assert error is raised[0]
    assert error.args == (2, "absent") and error.filename == "file"
    assert str(error) == "[Errno 2] absent: 'file'"
    assert str(error.__cause__) == "why"
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.args, copied.__notes__) == (error.args, error.__notes__)


def test_an_error_that_is_raised_again_names_its_latest_layer():
    fault = RuntimeError("always the same")

    class Raises(nn.Module):
        def forward(self, x):
            raise fault

    for _ in range(3):
        assert error_of(nn.Sequential(Raises()), tg.ones(1)) is fault
    assert error_of(nn.Sequential(nn.Identity(), Raises()), tg.ones(2)) is fault
    (text,) = fault.__notes__
    assert text.startswith("  in Sequential.1: Raises() got [2]\n")


def test_an_error_that_is_caught_by_a_layer_and_replaced_is_of_that_layer():
    class Catches(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.inner(x)
            except RuntimeError as error:
                raise ValueError("shapes") from error

    error = error_of(Catches(), tg.ones(3))
    assert "in Catches() got [3]" in error.__notes__[0]
    assert "in Catches.inner: Linear" in error.__cause__.__notes__[0]


def test_a_program_that_cannot_be_described_keeps_its_error():
    class Unprintable(nn.Module):
        def extra_repr(self):
            raise ZeroDivisionError

        def named_modules(self, *args, **kwargs):
            raise ZeroDivisionError

        def forward(self, x):
            raise RuntimeError("its own")

    error = error_of(Unprintable(), tg.ones(1))
    assert str(error) == "its own"
    assert error.__notes__[0].startswith("  in Unprintable(...) got [1]")
    outer = Unprintable()
    outer.forward = nn.Linear(2, 2).__call__
    assert type(error_of(outer, tg.ones(3))) is RuntimeError


def test_modules_in_a_cycle_are_found():
    inner, outer = nn.Linear(2, 2), nn.Sequential(nn.Sequential())
    outer[0].append(inner)
    inner.parent = outer
    assert "in Sequential.0.0: Linear" in error_of(outer, tg.ones(3)).__notes__[0]


def test_interrupts_keep_their_traceback():
    class Interrupts(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        Interrupts()(tg.ones(1))
    assert any(str(PACKAGE / "nn") in file for file in frames(caught.value))
    assert not hasattr(caught.value, "__notes__")


def test_all_frames_on_request(monkeypatch):
    assert len(frames(error_of(Net(), tg.ones(5, 16), "loop"))) == 2
    monkeypatch.setenv("TRACEGRAD_FULL_TRACEBACK", "1")
    assert len(frames(error_of(Net(), tg.ones(5, 16), "loop"))) > 6


@pytest.mark.parametrize("spoilt", [None, 3, "text"])
def test_failures_of_the_library_itself_show_all_frames(spoilt):
    """What nobody has meant to raise is explained by the whole traceback only."""
    layer = nn.BatchNorm1d(2)
    layer.__dict__["_buffers"] = spoilt
    error = error_of(nn.Sequential(layer), tg.ones(3, 2))
    assert len(frames(error)) > 4 and frames(error)[-1] != str(HERE)
    assert error.__notes__[0].startswith("  in Sequential.0: BatchNorm1d(2")


@pytest.mark.parametrize(
    "refused",
    [
        lambda: tg.ones(2, 3) @ tg.ones(2, 3),
        lambda: tg.ones(2, 3) + tg.ones(2, 4),
        lambda: tg.ones(2, 3).reshape(7),
        lambda: tg.nn.functional.relu([1]),
        lambda: tg.cat([tg.ones(2, 3), tg.ones(3, 2)]),
        lambda: tg.ones(2, 3).backward(),
        lambda: tg.autograd.grad(tg.ones(2), tg.ones(2)),
        lambda: tg.autograd.backward([tg.ones(2)]),
    ],
    ids=lambda function: inspect.getsource(function).strip().removeprefix("lambda: ").rstrip(","),
)
def test_functions_outside_of_layers_show_the_programs_frames(refused):
    assert set(frames(error_of(refused))) == {str(HERE)}


def test_post_mortem_lands_in_the_programs_frame():
    error = error_of(Net(), tg.ones(5, 16), "loop")
    debugger = pdb.Pdb()
    debugger.reset()
    stack, place = debugger.get_stack(None, error.__traceback__)
    frame = stack[place][0]
    assert frame.f_code is Net.forward.__code__
    assert list(frame.f_locals["x"].shape) == [5, 16]


def test_a_derivative_that_fails_names_its_operation():
    x = tg.ones(3, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    error = error_of(y.sum().backward)
    assert str(error).startswith("one of the variables needed for gradient computation has been modified")
    assert "  in the derivative of ExpBackward0" in error.__notes__
    assert set(frames(error)) == {str(HERE)}


class Spoils(nn.Module):
    def forward(self, x):
        y = x.exp()  # line of derivative
        y.mul_(2)
        return y


@pytest.mark.parametrize("serve", [eager, recorded])
def test_a_derivative_that_fails_names_its_layer_where_that_is_known(serve):
    net = nn.Sequential(nn.Linear(3, 3), Spoils())

    def step(x):
        net(x).sum().backward()

    if serve is eager:
        with tg.autograd.detect_anomaly(), pytest.warns(UserWarning, match="Error detected in ExpBackward0"):
            error = error_of(step, tg.ones(2, 3))
    else:
        error = error_of(serve(step, []), tg.ones(2, 3))
    layer = "Sequential.1: Spoils()" if serve is eager else "layer 1"
    place = line_of("derivative")
    assert error.__notes__ == [f"  in the derivative of ExpBackward0, computed in {layer}\n  at {place}"]


OLD = """
import tracegrad as tg
class Own(tg.nn.Module):
    def forward(self, x):
        raise KeyError("own", 2)
for layer in (tg.nn.Linear(2, 3), Own()):
    try:
        tg.nn.Sequential(layer)(tg.ones(5))
    except Exception as error:
        print(type(error).__name__, str(error), error.args, len(error.__notes__), sep="|")
"""


_NEEDS_NOTES = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no add_note")


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("notes", [pytest.param(True, marks=_NEEDS_NOTES), False])
def test_python_without_notes_gets_them_behind_the_librarys_messages(notes, tmp_path):
    """Python 3.10 has no `add_note`: what is done there is tried here."""
    head = f"import tracegrad.tracing.tracebacks as t; t.HAS_NOTES = {notes}\n"
    run = subprocess.run([sys.executable, "-c", head + OLD], capture_output=True, text=True, check=True)
    place = "  in Sequential.0: Linear(in_features=2, out_features=3, bias=True) got [5]"
    assert run.stdout.count(place) == (0 if notes else 2)
    assert run.stdout.startswith("RuntimeError|") and MATRICES.split()[0] in run.stdout
    assert "KeyError|('own', 2)|('own', 2)|1" in run.stdout


def test_good_calls_pay_nothing():
    """No function of those who look for layers and frames runs in a call, a backward pass, a step without an error."""
    net, x = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), tg.ones(3, 2)
    files = set()

    def listen(frame, event, argument):
        files.add(Path(frame.f_code.co_filename).name)

    sys.setprofile(listen)
    try:
        net(x).sum().backward()
    finally:
        sys.setprofile(None)
    assert "calling.py" in files and "engine.py" in files
    assert not files & {"locating.py", "tracebacks.py", "layers.py", "anomaly.py"} - {"anomaly.py"}


def test_copies_of_models_name_their_own_layers():
    error = error_of(copy.deepcopy(Net()), tg.ones(5, 16), "loop")
    assert "Net.tied (also layers.2)" in error.__notes__[0]
