"""The names that PyTorch's files have for what tracegrad has elsewhere, both ways."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..ops.callers.class_homes import defined_as

_PACKAGE = __name__.partition(".")[0]

#: Where PyTorch has the classes that files name: modules, and what stands in them.
_CLASSES = {
    "nn.parameter": "Buffer Parameter UninitializedBuffer UninitializedParameter",
    "nn.modules.pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
        "AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
        "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
    ),
    "nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
    "nn.modules.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "nn.modules.loss": (
        "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss "
        "HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss "
        "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
        "TripletMarginLoss TripletMarginWithDistanceLoss"
    ),
    "nn.modules.batchnorm": (
        "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm"
    ),
    "nn.modules.linear": "Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear",
    "nn.modules.activation": (
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish "
        "MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink "
        "Softsign Tanh Tanhshrink Threshold"
    ),
    "nn.modules.channelshuffle": "ChannelShuffle",
    "nn.modules.padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
        "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
        "ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    "nn.modules.container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "nn.modules.conv": (
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d "
        "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d"
    ),
    "nn.modules.distance": "CosineSimilarity PairwiseDistance",
    "nn.modules.normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "nn.modules.sparse": "Embedding EmbeddingBag",
    "nn.modules.flatten": "Flatten Unflatten",
    "nn.modules.fold": "Fold Unfold",
    "nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "nn.modules.instancenorm": (
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"
    ),
    "nn.modules.module": "Module _WrappedHook",
    "nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "nn.modules.transformer": (
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
    ),
    "nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "nn.parallel.data_parallel": "DataParallel",
    "nn.utils.rnn": "PackedSequence",
    "utils.hooks": "RemovableHandle",
    "optim._adafactor": "Adafactor",
    "optim._muon": "Muon",
    "optim.adadelta": "Adadelta",
    "optim.adagrad": "Adagrad",
    "optim.adam": "Adam",
    "optim.adamax": "Adamax",
    "optim.adamw": "AdamW",
    "optim.asgd": "ASGD",
    "optim.lbfgs": "LBFGS",
    "optim.nadam": "NAdam",
    "optim.optimizer": "Optimizer",
    "optim.radam": "RAdam",
    "optim.rmsprop": "RMSprop",
    "optim.rprop": "Rprop",
    "optim.sgd": "SGD",
    "optim.sparse_adam": "SparseAdam",
    "optim.lr_scheduler": (
        "ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler "
        "LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR"
    ),
    "optim.swa_utils": "AveragedModel SWALR",
    "utils.data.dataset": "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset",
    "utils.data.sampler": (
        "BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler WeightedRandomSampler"
    ),
}
#: Classes that no public module shows: the module of tracegrad's that holds them.
_UNSHOWN = {
    "NonDynamicallyQuantizableLinear": "nn.multihead_attention",
    "RemovableHandle": "tape.handles",
    "_WrappedHook": "nn.calls.state_hooks",
}
#: Modules of PyTorch's whose functions stand elsewhere here, and what their names begin with there.
_ELSEWHERE = {
    "torch._C._nn": ("torch.nn.functional", ""),
    "torch._VF": ("torch", ""),
    "torch._C": ("torch", ""),
    "torch.functional": ("torch", ""),
    "torch._linalg_utils": ("torch", ""),
    "torch._lowrank": ("torch", ""),
    "torch._lobpcg": ("torch", ""),
    "torch._utils": ("torch", ""),
    "torch._tensor_str": ("torch", ""),
    "torch.serialization": ("torch", ""),
    "torch._C._linalg": ("torch.linalg", "linalg_"),
    "torch._C._special": ("torch.special", "special_"),
    "torch._C._fft": ("torch.fft", "fft_"),
}
_RENAMED = {("torch._C._nn", "log_sigmoid"): "logsigmoid"}
#: Where the functions are that a program may keep: in attributes of modules, in lists of options. What several places
#: show has the name of the first.
_FUNCTIONS = (
    "nn.functional", "", "linalg", "special", "fft", "func", "nn.init", "nn.utils", "nn.utils.rnn",
    "nn.utils.parametrize", "nn.utils.prune", "random", "autograd", "utils.data", "utils.checkpoint",
)  # fmt: skip


class _VariableFunctions:
    """In the place of the class that has PyTorch's functions written in C: files get them as its attributes."""

    def __getattr__(self, name: str) -> Any:
        return here("torch", name)


VARIABLE_FUNCTIONS = _VariableFunctions()


def is_of_torch(module: str) -> bool:
    """Whether the module is one of PyTorch's."""
    return module == "torch" or module.startswith("torch.")


def here(module: str, name: str) -> Any:
    """What PyTorch has as `name` in `module`, looked for in the modules of the same path and those above.

    AttributeError if tracegrad has nothing of that name.
    """
    elsewhere, prefix = _ELSEWHERE.get(module, (module, ""))
    name = _RENAMED.get((module, name), name.removeprefix(prefix))
    path = _UNSHOWN[name].split(".") if name in _UNSHOWN else elsewhere.split(".")[1:]
    for count in range(len(path), 0 if path else -1, -1):
        try:
            found: Any = importlib.import_module(".".join((_PACKAGE, *path[:count])))
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        return found
    if name.startswith("_"):  # what some functions are defined as that PyTorch shows without the underscore
        with suppress(AttributeError):
            shown = here(module, name[1:])
            if isinstance(shown, FunctionType):
                return shown
    raise AttributeError(
        f"the file names {module}.{name}, which tracegrad does not have. Save a state_dict() instead of what holds it."
    )


def torch_path(module: str, name: str) -> tuple[str, str]:
    """Where PyTorch has a class or function of tracegrad's; the pair as it is if PyTorch has none."""
    if module.partition(".")[0] != _PACKAGE:
        return module, name
    return _paths(len(sys.modules)).get((module, name), (module, name))


@lru_cache(maxsize=1)
def _paths(modules: int) -> dict[tuple[str, str], tuple[str, str]]:
    """PyTorch's path of each class, by where it is defined, as whatever it is shown; made anew with more modules."""
    paths = {}
    for place, names in _CLASSES.items():
        for name in names.split():
            kind = _loaded(place, name)
            if isinstance(kind, type):
                paths[defined_as(kind)] = (f"torch.{place}", name)
    for place in _FUNCTIONS:
        for name, function in _functions_of(place):
            path = ".".join(filter(None, ("torch", place)))
            paths.setdefault((function.__module__, function.__qualname__), (path, name))
    return paths


def _functions_of(place: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a module, if it has been imported."""
    module = sys.modules.get(".".join(filter(None, (_PACKAGE, place))))
    for name, found in () if module is None else list(vars(module).items()):
        if isinstance(found, FunctionType) and not name.startswith("_"):
            yield name, found


def _loaded(place: str, name: str) -> Any:
    """What `here` finds, among modules that are imported."""
    path = _UNSHOWN.get(name, place).split(".")
    for count in range(len(path), 0, -1):
        found = getattr(sys.modules.get(".".join((_PACKAGE, *path[:count]))), name, None)
        if found is not None:
            return found
    return None
