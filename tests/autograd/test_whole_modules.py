"""Files of whole modules name what PyTorch has; a reader must be told to trust their classes alone."""

import io
import pickletools
import zipfile

import pytest

import tracegrad as tg
from tracegrad import nn

#: What PyTorch's restricted reader calls without being asked.
ALWAYS = {
    "collections OrderedDict",
    "__builtin__ set",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
}

MODULES = {
    "Linear": lambda: nn.Linear(2, 3),
    "Bilinear": lambda: nn.Bilinear(2, 3, 2),
    "Sequential": lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Dropout(0.5)),
    "ModuleList": lambda: nn.ModuleList([nn.Tanh(), nn.GELU()]),
    "ModuleDict": lambda: nn.ModuleDict({"a": nn.Sigmoid()}),
    "ParameterList": lambda: nn.ParameterList([nn.Parameter(tg.ones(2))]),
    "Conv2d": lambda: nn.Conv2d(1, 2, 3),
    "ConvTranspose1d": lambda: nn.ConvTranspose1d(1, 2, 3),
    "BatchNorm1d": lambda: nn.BatchNorm1d(2),
    "LayerNorm": lambda: nn.LayerNorm(2),
    "Embedding": lambda: nn.Embedding(3, 2, padding_idx=0),
    "RNN": lambda: nn.RNN(2, 3),
    "LSTM": lambda: nn.LSTM(2, 3, 2, bidirectional=True),
    "GRU": lambda: nn.GRU(2, 3),
    "LSTMCell": lambda: nn.LSTMCell(2, 3),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2),
    "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2),
    "Transformer": lambda: nn.Transformer(4, 2, 1, 1, 8),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(tg.ones(2)),
}


def saved(module):
    file = io.BytesIO()
    tg.save(module, file)
    file.seek(0)
    return file


def named(file):
    """The classes and functions that the pickle of a file names."""
    with zipfile.ZipFile(file) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("data.pkl"))
        return {argument for code, argument, _ in pickletools.genops(archive.read(name)) if code.name == "GLOBAL"}


@pytest.mark.parametrize("name", MODULES)
def test_only_names_of_pytorch_and_the_modules_own_classes(name):
    module = MODULES[name]()
    others = {text for text in named(saved(module)) - ALWAYS if not text.endswith("Storage")}
    assert all(text.startswith("torch.") for text in others)
    functions = {"relu"}
    classes = {type(each).__name__ for each in module.modules()}
    assert {text.split()[1] for text in others} <= classes | functions


@pytest.mark.parametrize("name", MODULES)
def test_the_restricted_reader_needs_to_be_told_of_the_classes_alone(name):
    module = MODULES[name]()
    with tg.serialization.safe_globals([*{type(each) for each in module.modules()}, nn.functional.relu]):
        loaded = tg.load(saved(module))
    assert [type(each) for each in loaded.modules()] == [type(each) for each in module.modules()]
    pairs = zip(module.state_dict().items(), loaded.state_dict().items(), strict=True)
    assert all(a == b and tg.equal(x, y) for (a, x), (b, y) in pairs)


def test_without_being_told_it_refuses():
    with pytest.raises(Exception, match="torch.nn.modules.linear.Linear"):
        tg.load(saved(nn.Linear(2, 3)))
