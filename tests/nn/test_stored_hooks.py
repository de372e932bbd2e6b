"""Whole modules in files: their hooks come back, and lazy ones are still lazy."""

import io
import pickle
import zipfile
from pathlib import Path

import pytest

import tracegrad as tg

FROM_PYTORCH = Path(__file__).parents[1] / "expected" / "hooked_modules.pt"


def saved(module):
    file = io.BytesIO()
    tg.save(module, file)
    file.seek(0)
    return tg.load(file, weights_only=False)


COPIES = {"save": saved, "pickle": lambda module: pickle.loads(pickle.dumps(module))}
CALLS = []


def before(module, args):
    CALLS.append("before")
    return (args[0] + 1,)


def after(module, args, kwargs, output):
    CALLS.append("after")


def backwards(module, grad_input, grad_output):
    CALLS.append("backwards")


def of_state(module, state, prefix, local):
    CALLS.append("state")


def loading(module, state, *rest):
    CALLS.append("loading")


@pytest.mark.parametrize("way", COPIES)
def test_hooks_come_back(way):
    layer = tg.nn.Linear(2, 1)
    layer.register_forward_pre_hook(before)
    layer.register_forward_hook(after, with_kwargs=True)
    layer.register_full_backward_hook(backwards)
    layer.register_state_dict_post_hook(of_state)
    layer.register_load_state_dict_pre_hook(loading)
    copied = COPIES[way](layer)
    CALLS.clear()
    x = tg.ones(1, 2, requires_grad=True)
    out = copied(x)
    out.sum().backward()
    copied.load_state_dict(copied.state_dict())
    assert CALLS == ["before", "after", "backwards", "state", "loading"]
    assert out.item() == layer(x).item()
    copied.register_forward_pre_hook(before)
    assert len(copied._forward_pre_hooks) == 2


def test_files_name_pytorchs_classes_of_hooks():
    layer = tg.nn.Linear(2, 1)
    layer.handle = layer.register_forward_hook(after, with_kwargs=True)
    layer.register_load_state_dict_pre_hook(loading)
    file = io.BytesIO()
    tg.save(layer, file)
    with zipfile.ZipFile(file) as archive:
        text = next(archive.read(name) for name in archive.namelist() if name.endswith("data.pkl"))
    assert b"torch.utils.hooks\nRemovableHandle" in text and b"torch.nn.modules.module\n_WrappedHook" in text
    assert b"tracegrad" not in text
    copied = saved(layer)
    copied.handle.remove()
    assert not copied._forward_hooks and not copied._forward_hooks_with_kwargs and layer._forward_hooks


LAZY = {
    "linear": (lambda: tg.nn.LazyLinear(3), (2, 5)),
    "convolution": (lambda: tg.nn.LazyConv2d(3, 3), (2, 5, 8, 8)),
    "transposed": (lambda: tg.nn.LazyConvTranspose1d(3, 3), (2, 5, 8)),
    "norm": (lambda: tg.nn.LazyBatchNorm2d(), (2, 5, 8, 8)),
    "instance_norm": (lambda: tg.nn.LazyInstanceNorm1d(affine=True), (2, 5, 8)),
    "within": (lambda: tg.nn.Sequential(tg.nn.LazyLinear(4), tg.nn.LazyLinear(2)), (2, 5)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", LAZY)
def test_lazy_modules_are_still_lazy(name, way):
    make, shape = LAZY[name]
    module = make()
    copied = COPIES[way](module)
    tg.manual_seed(0)
    out = copied(tg.ones(shape))
    tg.manual_seed(0)
    assert out.tolist() == module(tg.ones(shape)).tolist()
    for of in copied.modules():
        assert not of._forward_pre_hooks and not type(of).__name__.startswith("Lazy")


def test_pytorchs_modules_with_hooks():
    module = tg.load(FROM_PYTORCH, weights_only=False)
    assert [type(of).__name__ for of in module] == ["LazyConv2d", "LazyBatchNorm2d", "ReLU"]
    assert module(tg.ones(2, 4, 6, 6)).shape == (2, 3, 4, 4)
    assert [type(of).__name__ for of in module] == ["Conv2d", "BatchNorm2d", "ReLU"]
    assert len(module[2]._forward_pre_hooks) == 1 and not module[0]._forward_pre_hooks
    assert len(saved(module).state_dict()) == 7
