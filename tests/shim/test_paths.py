"""The table of PyTorch's paths: each can be imported or is refused by name, and no object is there twice."""

import contextlib
import importlib
import sys
from types import ModuleType

import pytest

from tracegrad import shim
from tracegrad.ops.callers.class_homes import home_of
from tracegrad.shim.finder import is_shown
from tracegrad.shim.paths import HOMES, homes, table

SHOWN = [path for path in table() if is_shown(path)]
ABSENT = [path for path in table() if not is_shown(path)]


@pytest.fixture(autouse=True)
def torch():
    if isinstance(sys.modules.get("torch"), ModuleType) and not hasattr(sys.modules["torch"], "__homes__"):
        pytest.skip("PyTorch itself has been imported into this process")
    with shim.install():
        yield importlib.import_module("torch")


def skip_without_extra(path):
    if path.startswith("torch.utils.tensorboard"):
        pytest.importorskip("tensorboard")


@pytest.mark.parametrize("path", SHOWN)
def test_a_path_is_one_module_with_pytorchs_names(path):
    skip_without_extra(path)
    module = importlib.import_module(path)
    assert module is sys.modules[path] and module.__name__ == path and module.__spec__.name == path
    found = vars(module)["__homes__"]
    for name in found.names():
        assert getattr(module, name) is getattr(module, name) or isinstance(getattr(module, name), (int, float))
        place = found.places[name]
        if place is not None and found.of(name) is None:
            assert getattr(module, name) is getattr(importlib.import_module(place), name)
    own = {
        name for name in vars(module) if not name.startswith("__") and not isinstance(vars(module)[name], ModuleType)
    }
    assert own <= set(found.places)


def test_functions_and_classes_are_no_modules():
    """``torch.nn.utils.weight_norm`` is the function, although there is a module of this name as well."""
    for path in filter(is_shown, table()):
        with contextlib.suppress(ImportError):
            importlib.import_module(path)
    modules = [
        f"{path}.{name}"
        for path, entry in table().items()
        for name in " ".join(names for key, names in entry.items() if key == "" or key.startswith("torch")).split()
        if path in sys.modules and isinstance(getattr(sys.modules[path], name, None), ModuleType)
    ]
    assert modules == ["torch.multiprocessing.reducer"]  # which is one in PyTorch, of Python's


@pytest.mark.parametrize("path", ABSENT)
def test_an_absent_path_is_refused_by_name(path):
    with pytest.raises(ImportError, match="tracegrad has no torch"):
        importlib.import_module(path)


@pytest.mark.parametrize("path", SHOWN)
def test_classes_are_this_packages_own(path, torch):
    skip_without_extra(path)
    module = importlib.import_module(path)
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and not name.startswith("__"):
            assert not home_of(value).startswith("torch"), f"{path}.{name} is made under torch's name"


def test_the_paths_that_programs_import_are_there():
    named = """nn nn.functional nn.init nn.parameter nn.utils nn.utils.rnn nn.utils.clip_grad nn.utils.weight_norm
    nn.utils.spectral_norm nn.utils.parametrize nn.utils.parametrizations nn.utils.stateless nn.utils.prune
    nn.utils.fusion nn.modules nn.modules.module nn.modules.linear nn.modules.conv nn.modules.activation
    nn.modules.loss nn.modules.container nn.modules.rnn nn.modules.batchnorm nn.modules.normalization
    nn.modules.dropout nn.modules.sparse nn.modules.pooling nn.modules.padding nn.modules.transformer nn.modules.utils
    nn.modules.distance nn.modules.flatten nn.modules.upsampling nn.modules.lazy nn.modules.instancenorm
    nn.modules.fold nn.modules.pixelshuffle nn.modules.channelshuffle nn.modules.adaptive nn.parallel nn.attention
    optim optim.optimizer optim.adam optim.adamw optim.sgd optim.rmsprop optim.adagrad optim.adadelta optim.adamax
    optim.nadam optim.radam optim.asgd optim.rprop optim.lbfgs optim.swa_utils optim.lr_scheduler optim._functional
    autograd autograd.function autograd.functional autograd.grad_mode autograd.gradcheck autograd.variable
    autograd.graph autograd.profiler autograd.forward_ad utils utils.data utils.data.dataset utils.data.sampler
    utils.data.dataloader utils.data.distributed utils.data._utils.collate utils.checkpoint utils.tensorboard
    utils.model_zoo utils.hooks utils.dlpack cuda cuda.amp cuda.random amp backends backends.cudnn backends.cuda
    backends.mps backends.mkl backends.mkldnn backends.openmp distributed multiprocessing distributions
    distributions.normal distributions.kl fft linalg special sparse func functional jit onnx hub testing version types
    overrides serialization storage profiler accelerator _C _utils _tensor return_types nested signal compiler random
    __config__ __future__ torch_version cpu mps xpu""".split()
    assert [name for name in named if not is_shown(f"torch.{name}")] == []


def test_homes_belong_to_paths_of_pytorch():
    assert [path for path in HOMES if path not in table()] == []
    assert all(f"tracegrad.{home}".rstrip(".") in homes(path) for path, found in HOMES.items() for home in found)


@pytest.mark.parametrize(
    ("path", "name", "other"),
    [
        ("torch.nn.modules.linear", "Linear", "torch.nn"),
        ("torch.nn.modules", "Conv2d", "torch.nn"),
        ("torch.nn.parameter", "Parameter", "torch.nn"),
        ("torch.nn.modules.conv", "Tensor", "torch"),
        ("torch.optim.adamw", "AdamW", "torch.optim"),
        ("torch.utils.data.dataloader", "DataLoader", "torch.utils.data"),
        ("torch.distributions.normal", "Normal", "torch.distributions"),
        ("torch.autograd.function", "Function", "torch.autograd"),
        ("torch.functional", "einsum", "torch"),
        ("torch.random", "manual_seed", "torch"),
        ("torch.serialization", "save", "torch"),
        ("torch.nn.utils.rnn", "pad_sequence", "torch.nn.utils.rnn"),
    ],
)
def test_a_name_is_the_same_object_by_every_path(path, name, other, tg):
    assert getattr(importlib.import_module(path), name) is getattr(importlib.import_module(other), name)
    inner = getattr(tg, other.partition(".")[2], tg) if other.count(".") < 2 else None
    assert inner is None or getattr(inner, name) is getattr(importlib.import_module(other), name)


@pytest.mark.parametrize("name", ["compiled", "runtime", "tape", "tracing", "ops", "shim", "deferred", "templates"])
def test_this_packages_inside_is_not_visible(torch, name):
    assert not hasattr(torch, name)
    with pytest.raises(ImportError):
        importlib.import_module(f"torch.{name}")


def test_names_that_mean_something_else_mean_what_they_mean_in_pytorch(torch):
    assert not torch.compiler.is_compiling() and not hasattr(torch.compiler, "pipeline")
    assert torch.functional.norm is torch.norm and not hasattr(torch.functional, "activations")
    assert torch.random.fork_rng is not None
