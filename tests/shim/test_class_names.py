"""Classes give PyTorch's modules and names as their own while the shim is installed, and tracegrad's afterwards."""

import concurrent.futures
import importlib
import inspect
import multiprocessing
import pickle
import subprocess
import sys

import pytest

from tracegrad import shim
from tracegrad.ops.callers.class_homes import home_of
from tracegrad.shim import class_names

CLASSES = class_names._table()["classes"]


@pytest.fixture(autouse=True)
def without_pytorch():
    if "torch" in sys.modules and not hasattr(sys.modules["torch"], "__homes__"):
        pytest.skip("PyTorch itself has been imported into this process")


@pytest.fixture
def torch(tg):
    if tg.__name__ == "torch":
        pytest.skip("this is about the name torch for tracegrad")
    with shim.install():
        yield importlib.import_module("torch")


def listed():
    """(PyTorch's module, its name of a class, what is here) for all that is here, where PyTorch has it."""
    for path, places in CLASSES.items():
        for place, names in places.items():
            module = sys.modules.get(place)
            for entry in names.split() if module is not None and path in sys.modules else ():
                name, _, shown = entry.partition("=")
                kind = getattr(module, name, None)
                is_there = getattr(sys.modules[path], shown or name, None) is kind
                if is_there and isinstance(kind, type) and home_of(kind).startswith("tracegrad"):
                    yield path, shown or name, kind


def test_classes_say_that_they_are_of_pytorchs_modules(torch):
    found = list(listed())
    assert len(found) > 450
    seen = {}
    for path, name, kind in found:
        seen.setdefault(kind, set()).add((path, name))
    wrong = [kind for kind, names in seen.items() if (kind.__module__, kind.__qualname__) not in names]
    assert wrong == []


def test_these_names_lead_to_the_classes(torch):
    """What pickle, cloudpickle and configurations by path need."""
    public = [kind for _, name, kind in listed() if "." not in name and name[0] != "_"]
    wrong = [kind for kind in public if getattr(sys.modules[kind.__module__], kind.__qualname__, None) is not kind]
    assert wrong == []


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("torch.ones(2)", "torch.Tensor"),
        ("torch.nn.Parameter(torch.ones(2))", "torch.nn.parameter.Parameter"),
        ("torch.nn.Linear(1, 1)", "torch.nn.modules.linear.Linear"),
        ("torch.nn.Sequential()", "torch.nn.modules.container.Sequential"),
        ("torch.nn.BCEWithLogitsLoss()", "torch.nn.modules.loss.BCEWithLogitsLoss"),
        ("torch.float32", "torch.dtype"),
        ("torch.device('cpu')", "torch.device"),
        ("torch.ones(2).shape", "torch.Size"),
        ("torch.Generator()", "torch._C.Generator"),
        ("torch.strided", "torch.layout"),
        ("torch.contiguous_format", "torch.memory_format"),
        ("torch.ones(2).max(0)", "torch.return_types.max"),
        ("torch.optim.AdamW([torch.ones(1, requires_grad=True)])", "torch.optim.adamw.AdamW"),
        ("torch.utils.data.TensorDataset(torch.ones(2))", "torch.utils.data.dataset.TensorDataset"),
        ("torch.utils.data.DataLoader([1])", "torch.utils.data.dataloader.DataLoader"),
        ("torch.distributions.Normal(0.0, 1.0)", "torch.distributions.normal.Normal"),
        ("torch.no_grad()", "torch.autograd.grad_mode.no_grad"),
        ("torch.ones(2).untyped_storage()", "torch.storage.UntypedStorage"),
        ("torch.linalg.LinAlgError()", "torch._C._LinAlgError"),
    ],
)
def test_the_class_of_a_value(torch, made, text):
    """As PyTorch 2.13 prints it."""
    kind = type(eval(made, {"torch": torch}))
    assert repr(kind) == f"<class '{text}'>" and f"{kind.__module__}.{kind.__qualname__}" == text
    assert torch.typename(kind) == text


def test_names_are_tracegrads_after_it(tg):
    before = {kind: repr(kind) for kind in (tg.Tensor, tg.nn.Linear, tg.optim.Adam, tg.dtype, tg.nn.Parameter)}
    assert all("tracegrad" in text for text in before.values())
    with shim.install():
        importlib.import_module("torch")
        assert not any("tracegrad" in repr(kind) for kind in before)
    assert {kind: repr(kind) for kind in before} == before
    assert pickle.loads(pickle.dumps(tg.nn.Linear(1, 1))).in_features == 1


@pytest.mark.parametrize("value", ["float32", "bool", "channels_last", "strided"])
def test_values_are_pickled_as_themselves(torch, tmp_path, value):
    value = getattr(torch, value)
    assert pickle.loads(pickle.dumps(value)) is value
    torch.save([value], tmp_path / "value.pt")
    assert torch.load(tmp_path / "value.pt", weights_only=False)[0] is value


def test_files_are_the_same_with_and_without_the_name(tg, tmp_path):
    model = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.Dropout(), tg.nn.BatchNorm1d(2))
    kept = {"model": model, "state": model.state_dict(), "dtype": tg.bool, "size": tg.ones(2).shape}
    tg.save(kept, tmp_path / "before.pt")
    with shim.install():
        importlib.import_module("torch").save(kept, tmp_path / "during.pt")
        inside = tg.load(tmp_path / "before.pt", weights_only=False)
    outside = tg.load(tmp_path / "during.pt", weights_only=False)
    for found in (inside, outside):
        assert type(found["model"][1]) is tg.nn.Dropout and found["dtype"] is tg.bool
        assert tg.equal(found["state"]["0.weight"], model[0].weight)


def test_a_compiled_function_reads_the_names_of_the_moment(tg):
    def scaled(x):
        return x * len(type(x).__module__)

    step, x = tg.compile(scaled), tg.ones(1)
    outside = [len("tracegrad.tensors.tensor")]
    assert [step(x).tolist() for _ in range(4)] == [outside] * 4
    with shim.install():
        importlib.import_module("torch")
        assert [step(x).tolist() for _ in range(4)] == [[len("torch")]] * 4
    assert [step(x).tolist() for _ in range(4)] == [outside] * 4


def test_sources_are_found(torch):
    for kind in (torch.nn.Linear, torch.nn.LSTM, torch.optim.Adam):
        assert inspect.getsource(kind).startswith(f"class {kind.__name__}(")


@pytest.mark.long
def test_processes_of_the_program_have_the_names(torch):
    """Processes that import no program: what they are sent names PyTorch's modules."""
    context = multiprocessing.get_context("spawn")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(repr, type(model)).result(timeout=100) == repr(type(model))
        assert pool.submit(len, model).result(timeout=100) == 2
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="spawn")
    assert [batch.tolist() for (batch,) in loader] == [[0.0, 1.0], [2.0, 3.0]]


def test_other_programs_do_not(torch):
    program = "import importlib.util, sys; print([f for f in sys.meta_path if 'shim' in type(f).__module__])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
