"""How layers print, their states, first draws and refusals, against PyTorch's; lazy layers and buffers."""

import copy
import json
import pickle
from difflib import SequenceMatcher

import numpy as np
import pytest
from expected import layer_forms
from expected.compare import STORE, assert_close

EXPECTED = json.loads((STORE / "layer_forms.json").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("text", layer_forms.LAYERS)
def test_layers(tg, text):
    found, expected = layer_forms.describe(tg, text), EXPECTED["layers"][text]
    for key in ("repr", "shapes", "version"):
        assert found[key] == expected[key]
    assert found["firsts"].keys() == expected["firsts"].keys()
    for key, numbers in expected["firsts"].items():
        assert_close(np.array(found["firsts"][key], np.float32), np.array(numbers, np.float32))


def without_library(text):
    return text.replace("tracegrad.", "").replace("torch.", "")


@pytest.mark.filterwarnings("ignore:Default grid_sample", "ignore:dropout2d", "ignore:input's size")
@pytest.mark.parametrize("text", layer_forms.REFUSED)
def test_refusals(tg, text):
    """The same class, and PyTorch's key phrase: three fifths of its message, or thirty letters of it, in one piece."""
    found, expected = layer_forms.refusal(tg, text), EXPECTED["refused"][text]
    assert found is not None and found["class"] == expected["class"]
    ours, theirs = without_library(found["text"]), without_library(expected["text"])
    common = SequenceMatcher(None, theirs, ours, False).find_longest_match().size
    assert common >= min(30, 0.6 * len(theirs)), found["text"]


@pytest.mark.parametrize("text", layer_forms.HOLDING)
def test_values(tg, text):
    """Integers stay integers, and a space that pooling leads from is unpooled to."""
    assert layer_forms.value(tg, text) == EXPECTED["holding"][text]


# ------------------------------------------------------------------------------------------------------ lazy layers

LAZY = {
    "LazyLinear(3)": (2, 4), "LazyConv1d(4, 3)": (2, 2, 6), "LazyConv2d(4, 3, groups=2)": (2, 2, 5, 5),
    "LazyConv3d(2, 2)": (1, 2, 3, 3, 3), "LazyConvTranspose1d(4, 3)": (2, 2, 6),
    "LazyConvTranspose2d(4, 3, stride=2)": (2, 2, 5, 5), "LazyConvTranspose3d(2, 2)": (1, 2, 3, 3, 3),
    "LazyBatchNorm1d()": (4, 3), "LazyBatchNorm2d()": (2, 3, 4, 4), "LazyBatchNorm3d()": (2, 3, 2, 2, 2),
    "LazyInstanceNorm1d()": (2, 3, 5), "LazyInstanceNorm2d()": (2, 3, 4, 4), "LazyInstanceNorm3d()": (2, 3, 2, 2, 2),
}  # fmt: skip


def plain(text, channels):
    """The layer that the lazy one is to become."""
    name, _, rest = text.removeprefix("Lazy").partition("(")
    affine = "" if not name.startswith("InstanceNorm") else ", affine=True, track_running_stats=True"
    return f"nn.{name}({channels}{affine}, {rest}".replace(", )", ")")


@pytest.mark.parametrize("text", LAZY)
def test_the_first_call_makes_a_lazy_layer_a_plain_one(tg, text, mode):
    shape = LAZY[text]
    channels = shape[-1] if "Linear" in text else shape[1]
    x = tg.tensor(np.sin(np.arange(np.prod(shape)) * 1.0).reshape(shape).astype(np.float32))
    tg.manual_seed(4)
    layer = eval(f"nn.{text}", {"nn": tg.nn})
    assert layer.has_uninitialized_params() and all(map(tg.nn.parameter.is_lazy, layer.parameters()))
    call = tg.compile(lambda x: layer(x)) if mode == "compiled" else layer
    found = [call(x + i).detach() * 1 for i in range(4)]
    tg.manual_seed(4)
    reference = eval(plain(text, channels), {"nn": tg.nn})
    assert type(layer) is type(reference) and repr(layer) == repr(reference) and not layer._forward_pre_hooks
    for i, out in enumerate(found):
        assert_close(out, reference(x + i))
    for name, tensor in reference.state_dict().items():
        assert_close(layer.state_dict()[name], tensor)


def test_an_optimizer_made_before_the_first_call(tg, mode):
    def losses(lazy, wrap):
        tg.manual_seed(1)
        layer = tg.nn.LazyLinear(2) if lazy else tg.nn.Linear(3, 2)
        optimizer = tg.optim.Adam(layer.parameters(), lr=0.1)
        x = tg.tensor([[1.0, 2.0, 3.0]])

        def step(x):
            optimizer.zero_grad()
            loss = (layer(x) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = wrap(step)
        return [run(x).item() for _ in range(6)]

    assert_close(losses(True, tg.compile if mode == "compiled" else lambda step: step), losses(False, lambda s: s),
                 rtol=1e-5)  # fmt: skip


def test_states_of_lazy_layers(tg):
    nn = tg.nn
    made = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    lazy = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())
    for other in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        other.load_state_dict(lazy.state_dict())
        assert other[0].has_uninitialized_params() and other[1].has_uninitialized_params()
        other(tg.ones(2, 3))
        assert lazy[0].has_uninitialized_params()
    bad = {**made.state_dict(), "0.bias": 3}
    with pytest.raises(RuntimeError, match="0.bias"):
        lazy.load_state_dict(bad)
    assert lazy[0].has_uninitialized_params() and lazy[1].has_uninitialized_params()
    lazy.load_state_dict(made.state_dict())
    assert not lazy[0].has_uninitialized_params()
    x = tg.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])
    assert_close(lazy(x), made(x))
    assert type(lazy[0]) is nn.Linear and lazy[0].in_features == 3


#: Methods that look at no number and no shape.
HARMLESS = {
    "cpu", "detach_", "float", "forget_history", "get_device", "gradient_edge", "is_ambiguous", "is_complex",
    "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_neg", "is_pinned", "is_shared", "is_signed",
    "is_tracked", "new", "positive", "requires_grad_", "resolve_conj", "resolve_neg", "retain_grad", "size", "to",
    "to_dense", "type",
}  # fmt: skip


def test_nothing_computes_with_what_has_no_shape(tg):
    """Every public method, and every public function of one tensor or of two."""
    refused, lazy = 0, tg.nn.UninitializedParameter
    for name in dir(tg.Tensor):
        method = getattr(tg.Tensor, name)
        if name.startswith("_") or not callable(method) or isinstance(method, type) or name in HARMLESS:
            continue
        with pytest.raises((ValueError, RuntimeError, TypeError, AssertionError)):
            getattr(lazy(), name)()
        refused += 1
    for name in (
        "abs",
        "add",
        "mul",
        "matmul",
        "where",
        "cat",
        "zeros_like",
        "softmax",
        "maximum",
        "eq",
        "sum",
        "topk",
    ):
        for args in ((lazy(),), (lazy(), tg.ones(2)), (tg.ones(2), lazy())):
            with pytest.raises((ValueError, RuntimeError, TypeError)):
                getattr(tg, name)(*args)
    one = lazy()
    assert refused > 200 and repr(one) == "<UninitializedParameter>" and one.size() == (0,)
    assert one.requires_grad and one.is_leaf and one.grad is None and one.dtype is tg.float32
    layer = tg.nn.LazyLinear(2).double()
    layer.zero_grad()
    assert layer.weight.dtype is tg.float64 and layer(tg.ones(1, 2).double()).dtype is tg.float64


def test_a_lazy_layer_of_ones_own(tg):
    nn = tg.nn

    class Scale(nn.Module):
        def forward(self, x):
            return x * self.factor

    class LazyScale(tg.nn.lazy.mixin.LazyModuleMixin, Scale):
        cls_to_become = Scale

        def __init__(self):
            super().__init__()
            self.factor = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            self.factor.materialize(x.shape[-1:])
            nn.init.constant_(self.factor, 3.0)

    layer = LazyScale()
    assert layer(tg.ones(2)).tolist() == [3, 3] and type(layer) is Scale

    class Forgetful(LazyScale):
        def initialize_parameters(self, x):
            pass

    with pytest.raises(RuntimeError, match="module Forgetful has not been fully initialized"):
        Forgetful()(tg.ones(2))


# ------------------------------------------------------------------------------------------- buffers, initial values


def test_buffers(tg):
    nn, model = tg.nn, tg.nn.Module()
    model.kept, model.left_out = nn.Buffer(tg.ones(2)), nn.Buffer(tg.zeros(1), persistent=False)
    assert isinstance(model.kept, nn.Buffer) and not isinstance(tg.ones(1), nn.Buffer)
    assert [name for name, _ in model.named_buffers()] == ["kept", "left_out"]
    assert list(model.state_dict()) == ["kept"]
    model.kept = nn.Buffer(tg.ones(3), persistent=False)
    assert list(model.state_dict()) == [] and nn.Buffer().shape == (0,)


def test_initial_values(tg):
    init = tg.nn.init
    weight = init.dirac_(tg.empty(4, 2, 3, 3), 2)
    x = tg.tensor(np.arange(2 * 4 * 5 * 5, dtype=np.float32).reshape(2, 4, 5, 5))
    assert_close(tg.nn.functional.conv2d(x, weight, padding=1, groups=2), x)
    tg.manual_seed(3)
    sparse = init.sparse_(tg.empty(6, 4), 0.4, std=2.0)
    assert [int((column == 0).sum()) for column in sparse.t()] == [3, 3, 3, 3]
    for name in ("uniform", "normal", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "sparse",
                 "orthogonal", "constant", "eye", "dirac"):  # fmt: skip
        args = {"sparse": (0.5,), "constant": (2.0,)}.get(name, ())
        shape = (3, 3, 1) if name == "dirac" else (3, 3)
        tg.manual_seed(3)
        expected = getattr(init, f"{name}_")(tg.empty(*shape), *args)
        tg.manual_seed(3)
        with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."):
            assert_close(getattr(init, name)(tg.empty(*shape), *args), expected)


def test_sparse_draws_are_those_of_pytorch(tg):
    tg.manual_seed(3)
    found = tg.nn.init.sparse_(tg.empty(6, 4), 0.4, std=2.0)
    assert_close(found, np.array(EXPECTED["sparse"], np.float32))


def test_synchronised_norms_of_a_model(tg):
    nn = tg.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.BatchNorm1d(4, affine=False)))
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert type(made[1]) is nn.SyncBatchNorm and type(made[2][0]) is nn.SyncBatchNorm
    x = tg.randn(5, 3)
    assert_close(made(x), nn.SyncBatchNorm.convert_sync_batchnorm(model)(x))


def test_adaptive_softmax(tg):
    """The log probabilities are those of one softmax over all classes, made of the clusters'."""
    layer = tg.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], 2.0).double()
    x, target = tg.randn(9, 8, dtype=tg.float64), tg.tensor([0, 2, 3, 6, 7, 11, 1, 4, 9])
    logs = layer.log_prob(x)
    assert_close(logs.exp().sum(1), np.ones(9))
    output, loss = layer(x, target)
    assert_close(output, logs.gather(1, target.unsqueeze(1)).squeeze(1))
    assert_close(loss, -output.mean())
    assert layer.predict(x).tolist() == logs.argmax(1).tolist()
    single = layer(x[0], target[0])
    assert_close(single.output, output[0])
    step = tg.compile(lambda x, y: layer(x, y).loss)
    for call in range(4):
        shifted = (target + call) % 12
        assert_close(step(x, shifted), layer(x, shifted).loss)


def test_adaptive_softmax_leaves_clusters_without_rows_alone(tg):
    layer = tg.nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5], 2.0)
    layer(tg.randn(3, 4), tg.tensor([0, 1, 3])).loss.backward()
    assert layer.tail[0][0].weight.grad is not None and layer.tail[1][0].weight.grad is None
