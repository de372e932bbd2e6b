"""PyTorch itself reads what `save` writes, and goes on from it; where it is installed."""

import io

import numpy as np
import pytest
from expected import files
from expected.layer_forms import LAYERS

import tracegrad as tg

pytestmark = pytest.mark.long
#: Lazy layers of PyTorch's pickle hooks of a class of its own.
WHOLE = [text for text in LAYERS if "Lazy" not in text and "complex" not in text] + [
    "Linear(4, 3)", "Conv2d(3, 4, 3, padding='same')", "Conv1d(3, 4, 3, padding=1, padding_mode='circular')",
    "ConvTranspose2d(3, 4, 3)", "LSTM(4, 3, 2, bidirectional=True)", "GRU(4, 3)", "RNN(4, 3)", "LSTMCell(4, 3)",
    "LayerNorm(4)", "RMSNorm(4)", "MultiheadAttention(4, 2)",
    "MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True)",
    "TransformerEncoderLayer(4, 2, 8)", "TransformerDecoderLayer(4, 2, 8, activation='gelu')",
    "TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)", "Embedding(5, 3, padding_idx=1)", "Bilinear(2, 3, 4)",
    "ModuleList([nn.Linear(2, 2)])", "ModuleDict({'a': nn.Linear(2, 2)})", "Softmax(-1)", "PReLU()", "GELU()",
    "ReLU6()", "MaxPool2d(2)", "AvgPool1d(2)", "AdaptiveMaxPool1d(2)", "Flatten()", "Unflatten(1, (2, 2))",
    "Fold(4, 2)",
    "ReflectionPad1d(1)", "ConstantPad1d(1, 2.0)", "CircularPad1d(1)", "CrossEntropyLoss()", "HuberLoss()",
]  # fmt: skip


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def through(value, writer, reader, **options):
    file = io.BytesIO()
    writer.save(value, file)
    file.seek(0)
    return reader.load(file, **options)


@pytest.mark.parametrize("name", sorted(files.WEIGHTS.keys() - {"negated", "attention"}))
def test_torch_reads_weights(torch, name):
    ours = files.value(tg, files.WEIGHTS[name])
    back = through(ours, tg, torch, weights_only=True)
    expected = files.described(tg, ours)
    if name != "conjugated":  # where the memory holds other numbers than PyTorch's
        assert files.described(torch, back) == expected
    legacy = io.BytesIO()
    tg.save(ours, legacy, _use_new_zipfile_serialization=False)
    legacy.seek(0)
    assert files.described(torch, torch.load(legacy)) == files.described(torch, back)


def outputs(module, library):
    """What the layer gives for inputs of several ranks that it takes."""
    module.eval()
    found = []
    for shape in [(4,), (2, 4), (2, 3, 4), (2, 3, 5, 5), (2, 4, 4)]:
        x = library.tensor(np.random.RandomState(1).randn(*shape).astype(np.float32))
        for count in (1, 2, 3):
            try:
                with library.no_grad():
                    y = module(*[x] * count)
            except Exception:
                continue
            while isinstance(y, tuple):
                y = y[0]
            found.append(((shape, count), y.numpy()))
    return dict(found)


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.filterwarnings("ignore")
def test_whole_layers_go_both_ways(torch, text):
    for writer, reader in ((tg, torch), (torch, tg)):
        writer.manual_seed(0)
        module = eval(f"nn.{text}", {"nn": writer.nn})
        back = through(module, writer, reader, weights_only=False)
        assert type(back).__name__ == type(module).__name__ and isinstance(back, reader.nn.Module)
        states = [{name: value.numpy().tolist() for name, value in m.state_dict().items()} for m in (module, back)]
        assert states[0] == states[1]
        ours, theirs = outputs(module, writer), outputs(back, reader)
        for key in ours.keys() & theirs.keys() if "Fractional" not in text else ():
            np.testing.assert_allclose(ours[key], theirs[key], 1e-4, 1e-5)  # sums in another order


@pytest.mark.parametrize("name", files.OPTIMIZERS)
def test_training_goes_on_in_the_other_library(torch, name):
    for writer, reader in ((tg, torch), (torch, tg)):
        for whole in (False, True):
            if whole and name == "LBFGS":  # PyTorch's own pickle of it cannot make steps
                continue
            models, optimizers = [], []
            for library in (writer, reader):
                library.manual_seed(0)
                layers = library.nn.Linear(3, 4), library.nn.Tanh(), library.nn.Linear(4, 1)
                models.append(library.nn.Sequential(*layers).double())  # L-BFGS makes rounding errors larger
                optimizers.append(getattr(library.optim, name)(models[-1].parameters()))
            for i in range(3):
                train(writer, models[0], optimizers[0], i)
            if whole:
                back = through([models[0], optimizers[0]], writer, reader, weights_only=False)
                models[1], optimizers[1] = back
            else:
                states = through(
                    [models[0].state_dict(), optimizers[0].state_dict()], writer, reader, weights_only=True
                )
                models[1].load_state_dict(states[0])
                optimizers[1].load_state_dict(states[1])
            for i in range(3, 6):
                for library, model, optimizer in zip((writer, reader), models, optimizers, strict=True):
                    train(library, model, optimizer, i)
            for ours, theirs in zip(*(model.parameters() for model in models), strict=True):
                np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), 1e-7)


def train(library, model, optimizer, i):
    x = library.tensor(np.sin(np.arange(15, dtype=np.float64) + i).reshape(5, 3))

    def closure():
        optimizer.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def test_values_of_torch_in_state_dicts(torch):
    for dtype in ("float32", "bfloat16", "float64"):
        theirs = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).to(getattr(torch, dtype))
        for assign in (False, True):
            ours = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3)).to(getattr(tg, dtype))
            assert str(ours.load_state_dict(theirs.state_dict(), assign=assign)) == "<All keys matched successfully>"
            for name, value in theirs.state_dict().items():
                assert ours.state_dict()[name].tolist() == value.tolist()
    model, other = torch.nn.Linear(2, 2), tg.nn.Linear(2, 2)
    optimizer, fresh = torch.optim.Adam(model.parameters()), tg.optim.Adam(other.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    fresh.load_state_dict(optimizer.state_dict())
    other(tg.ones(1, 2)).sum().backward()
    fresh.step()
    assert optimizer.state_dict()["state"][0]["step"].item() == 1.0  # its memory is its own
    assert fresh.state_dict()["state"][0]["step"].item() == 2.0
