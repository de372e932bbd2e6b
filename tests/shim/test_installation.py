"""The name torch in a process: versions, texts, replaced functions, pickles, what is not there."""

import importlib
import importlib.metadata
import importlib.util
import pickle
import subprocess
import sys
from unittest import mock

import pytest

from tracegrad import shim


@pytest.fixture
def torch(tg):
    if tg.__name__ == "torch":
        pytest.skip("this is about the name torch for tracegrad")
    with shim.install():
        yield importlib.import_module("torch")


def fresh(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)


def test_install_is_undone_by_the_block_that_did_it(tg):
    with shim.install():
        torch = importlib.import_module("torch")
        with shim.install():
            assert importlib.import_module("torch") is torch
        assert shim.is_installed() and str(torch.float32) == "torch.float32"
    assert not shim.is_installed() and "torch" not in sys.modules and "torch.nn" not in sys.modules
    assert str(tg.float32) == "tracegrad.float32"


def test_versions(torch):
    assert torch.__version__ == "2.13.0+tracegrad" and torch.__version__ >= "2.1" and torch.__version__ >= (1, 10)
    assert torch.__version__ < "3" and torch.__version__ > "2.4.1" and isinstance(torch.__version__, str)
    assert torch.version.cuda is None and torch.version.hip is None
    assert importlib.metadata.version("torch") == "2.13.0+tracegrad"
    assert importlib.util.find_spec("torch") is not None and importlib.util.find_spec("torch.nn") is not None


def test_paths_that_are_not_there(torch):
    """Asked for they are None, as those of any package; an import says what is near."""
    for name in ("torch.unknown", "torch.nn.unknown"):
        assert importlib.util.find_spec(name) is None
        with pytest.raises(ModuleNotFoundError, match="the nearest is torch.nn"):
            importlib.import_module(name)
        with pytest.raises(ModuleNotFoundError, match="the nearest is torch.nn"):
            exec(f"import {name}")
        with pytest.raises(ModuleNotFoundError, match="the nearest is torch.nn"):
            importlib.util.find_spec(f"{name}.more")


@pytest.mark.parametrize("path", ["torch", "torch.nn", "torch.nn.functional", "torch.utils.data"])
def test_names_that_are_not_there(torch, path):
    """An import of a name is an ImportError, that of a module a ModuleNotFoundError, as from any package."""
    with pytest.raises(ImportError, match=f"cannot import name 'unknown' from '{path}': tracegrad has no") as error:
        exec(f"from {path} import unknown")
    assert type(error.value) is ImportError and error.value.name == path and error.value.path
    for text in (f"import {path}.unknown", f"from {path}.unknown import name"):
        with pytest.raises(ModuleNotFoundError):
            exec(text)


def test_texts_that_programs_compare(torch):
    assert str(torch.float32) == "torch.float32" and repr(torch.int64) == "torch.int64"
    assert torch.ones(1).type() == "torch.FloatTensor" and torch.typename(torch.ones(1)) == "torch.FloatTensor"
    assert repr(torch.ones(2, 3).shape) == "torch.Size([2, 3])"
    assert repr(torch.ones(2, dtype=torch.float64)) == "tensor([1., 1.], dtype=torch.float64)"


def test_replaced_functions_take_effect(torch, tg):
    nn = torch.nn
    with mock.patch("torch.nn.functional.relu", lambda x: "replaced"):
        assert torch.nn.functional.relu(1) == tg.nn.functional.relu(1) == "replaced"
    with mock.patch.object(torch.Tensor, "shown", lambda self: "shown", create=True):
        assert tg.ones(1).shown() == "shown"
    with mock.patch("torch.manual_seed", lambda seed: seed + 1):
        assert torch.manual_seed(1) == tg.manual_seed(1) == 2
    with mock.patch("torch.cuda.is_available", return_value=True):
        assert torch.cuda.is_available()
    calls, before = [], nn.Module.__call__
    with mock.patch.object(nn.Module, "__call__", lambda self, *args: calls.append(self) or before(self, *args)):
        nn.Linear(2, 2)(torch.ones(1, 2))
    assert len(calls) == 1 and not torch.cuda.is_available()


def test_a_name_that_is_replaced_at_one_path_is_as_it_was_at_others(torch, tg):
    class Other(torch.nn.Linear):
        pass

    with mock.patch("torch.nn.Linear", Other):
        assert torch.nn.Linear is tg.nn.Linear is Other
        assert torch.nn.modules.linear.Linear is torch.nn.modules.Linear is Other.__mro__[1]
    with mock.patch("torch.nn.modules.linear.Linear", Other):
        assert torch.nn.Linear is torch.nn.modules.Linear is Other.__mro__[1]
    assert torch.nn.modules.linear.Linear is torch.nn.Linear is Other.__mro__[1]


def test_flags_are_where_programs_set_them(torch):
    cudnn = importlib.import_module("torch.backends.cudnn")
    before = cudnn.benchmark
    cudnn.benchmark = not before
    assert torch.backends.cudnn.benchmark is not before
    cudnn.benchmark = before
    importlib.import_module("torch._dynamo.config").suppress_errors = True


def test_a_compiled_function_notices_what_is_replaced(torch):
    def doubled(x):
        return torch.nn.functional.relu(x) * 2

    step, x = torch.compile(doubled), torch.tensor([-1.0, 1.0])
    assert [step(x).tolist() for _ in range(3)] == [[0.0, 2.0]] * 3
    with mock.patch("torch.nn.functional.relu", torch.abs):
        assert step(x).tolist() == [2.0, 2.0]
    assert step(x).tolist() == [0.0, 2.0]


def test_names_of_everything(torch):
    names = {}
    exec("from torch import *", names)
    assert {"Tensor", "randn", "float32", "no_grad", "save"} <= set(names) and "nn" not in names
    exec("from torch.nn import *; from torch.nn.modules.conv import *", names)
    assert names["Conv2d"] is torch.nn.Conv2d
    assert {"nn", "randn", "compile"} <= set(dir(torch)) or {"randn", "compile"} <= set(dir(torch))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("import torch.nn.foo", "tracegrad has no torch.nn.foo"),
        ("from torch.nn import Lineer", "tracegrad has no torch.nn.Lineer: the nearest name is 'Linear'"),
        (
            "from torch.nn.functional import relux",
            "torch.nn.functional.relux: the nearest name is 'relu'",
        ),
        ("import torch.fx", "tracegrad has no torch.fx: step.graph"),
        ("import torch._six", "PyTorch itself has removed it"),
        ("from torch.ao.quantization import quantize", "there are no quantised types"),
        ("from torch.utils.cpp_extension import load", "extensions in C++ need PyTorch's own library"),
        ("from torch._subclasses.fake_tensor import FakeTensorMode", "torch.device('meta') has shapes without numbers"),
        ("from torch.utils._python_dispatch import TorchDispatchMode", "__torch_function__"),
        ("from torch.library import custom_op", "torch.autograd.Function makes an operation"),
        ("from torch.package import PackageExporter", "torch.save() and torch.load() keep models"),
        ("from torch.export import export", "step.source"),
        ("from torch import qint8", "there are no quantised types"),
        ("from torch import ops", "libraries in C++ cannot be loaded"),
    ],
)
def test_what_is_not_there_is_named(torch, line, text):
    with pytest.raises(ImportError) as caught:
        exec(line)
    assert text in str(caught.value)


def test_unknown_attributes(torch):
    with pytest.raises(AttributeError, match=r"tracegrad has no torch.nn.Conv2D: the nearest name is 'Conv2d'"):
        torch.nn.Conv2D  # noqa: B018
    assert not hasattr(torch, "qint8") and getattr(torch, "fuctional", 3) == 3


def test_what_programs_ask_of_a_build_for_the_cpu(torch):
    """Once in a module that they import, before anything is computed."""
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError and issubclass(torch.OutOfMemoryError, RuntimeError)
    answers = [kind.is_available() for kind in (torch.cuda, torch.xpu, torch.mps, torch.backends.mps)]
    assert answers == [False] * 4 and not torch.is_vulkan_available()
    torch._assert(True, "as a call")
    with pytest.raises(AssertionError, match="as a call"):
        torch._assert(False, "as a call")
    assert torch.distributed.is_available() and not torch.distributed.is_initialized()


def test_pickles_by_torchs_paths(torch):
    assert pickle.loads(b"ctorch.nn.modules.linear\nLinear\n.") is torch.nn.Linear
    assert pickle.loads(b"ctorch.optim.adamw\nAdamW\n.") is torch.optim.AdamW
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    data = pickle.dumps(model)
    assert b"torch.nn.modules.linear" in data and b"tracegrad.nn" not in data
    assert torch.equal(pickle.loads(data)[0].weight, model[0].weight)


def test_modules_are_pickled_by_name(torch, tg):
    for module in (torch, torch.nn.functional, tg.nn, tg):
        assert pickle.loads(pickle.dumps(module)) is module


def test_pytorch_that_is_imported_already_is_an_error():
    done = fresh(
        "import sys, types; sys.modules['torch'] = types.ModuleType('torch')\nimport tracegrad.shim as s\n"
        "try: s.install()\nexcept ImportError as e: print(e, len(sys.meta_path), s.is_installed())"
    )
    assert "imported already" in done.stdout and done.stdout.strip().endswith("False"), done.stderr


def test_installing_imports_nothing_of_torch():
    done = fresh(
        "import sys, tracegrad.shim\ntracegrad.shim.install()\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('torch', 'torchvision')])\n"
        "import torch\nprint('torch.nn' in sys.modules, torch.nn.Linear.__name__, 'torch.nn' in sys.modules)"
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True Linear True"], done.stderr


def test_compiled_packages_are_refused_in_one_line(torch, tmp_path, monkeypatch):
    (tmp_path / "torch_scatter.py").write_text("import nothing_that_exists")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"torch_scatter is compiled against PyTorch's C\+\+ library"):
        importlib.import_module("torch_scatter")
    with pytest.raises(ModuleNotFoundError, match="No module named 'torchaudio'"):
        importlib.import_module("torchaudio")
