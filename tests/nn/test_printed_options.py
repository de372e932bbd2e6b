"""What layers print of each of their options, beside PyTorch's."""

import inspect

import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

FIRST = {
    "AdaptiveLogSoftmaxWithLoss": (8, 20, [5]), "Bilinear": (2, 3, 4), "ChannelShuffle": (2,), "Embedding": (5, 3),
    "EmbeddingBag": (5, 3), "Fold": ((4, 4), 2), "FractionalMaxPool2d": (2,), "FractionalMaxPool3d": (2,),
    "GroupNorm": (2, 4), "LayerNorm": (4,), "LazyLinear": (3,), "Linear": (2, 3), "LocalResponseNorm": (2,),
    "MultiheadAttention": (4, 2), "PixelShuffle": (2,), "PixelUnshuffle": (2,), "RMSNorm": (4,), "Threshold": (1, 2),
    "TransformerDecoderLayer": (4, 2, 8), "TransformerEncoderLayer": (4, 2, 8),
    "Unflatten": (1, (2, 3)), "Unfold": (2,),
    **{kind + cell: (2, 3) for kind in ("RNN", "LSTM", "GRU") for cell in ("", "Cell")},
    **{f"{kind}Norm{n}d": (3,) for kind in ("Batch", "Instance") for n in (1, 2, 3)},
    **{f"{kind}{n}d": (2, 4, 3) for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)},
    **{f"Lazy{kind}{n}d": (4, 3) for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)},
    **{f"{kind}Pool{n}d": (2,) for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax") for n in (1, 2, 3)},
    **{f"{kind}{n}d": (2,) for kind in ("MaxUnpool", "ZeroPad", "ReflectionPad", "CircularPad") for n in (1, 2, 3)},
    **{f"LPPool{n}d": (2, 3) for n in (1, 2, 3)}, **{f"ConstantPad{n}d": (2, 1.0) for n in (1, 2, 3)},
}  # fmt: skip
OPTIONS = {
    "activation": ["gelu"], "affine": [False, True], "align_corners": [True, False], "approximate": ["tanh"],
    "dim": [0, -1], "divisor_override": [3], "mode": ["bilinear", "max", "nearest"], "max_norm": [2.0],
    "nonlinearity": ["relu"], "output_ratio": [0.5], "output_size": [3], "padding_idx": [1],
    "padding_mode": ["reflect"],
    "proj_size": [1], "reduction": ["sum"], "scale_factor": [2, 2.0, (2, 3)], "size": [4, (4, 5)], "stride": [2],
}  # fmt: skip
# Abstract ones and containers, and what is not to be made without others.
APART = {"Buffer", "Container", "CrossMapLRN2d", "DataParallel", "Module", "ParameterDict", "ParameterList"}


def _layers():
    for name in sorted(vars(torch.nn)):
        kind = getattr(torch.nn, name)
        if isinstance(kind, type) and issubclass(kind, torch.nn.Module) and name not in APART and hasattr(tg.nn, name):
            yield name


def _options(name):
    """Each option by itself, with values that are not its default."""
    yield {}
    for option, parameter in list(inspect.signature(getattr(torch.nn, name).__init__).parameters.items())[1:]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or option in ("device", "dtype"):
            continue
        default = parameter.default
        found = list(OPTIONS.get(option, []))
        if isinstance(default, bool):
            found.append(not default)
        elif isinstance(default, (int, float)):
            found += [default + 1, 0.25] if isinstance(default, float) else [default + 1]
        yield from ({option: value} for value in found)


def _printed(nn, name, options):
    try:
        return repr(getattr(nn, name)(*FIRST.get(name, ()), **options))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("name", list(_layers()))
def test_each_option_is_printed_as_there(name):
    for options in _options(name):
        assert _printed(tg.nn, name, options) == _printed(torch.nn, name, options), options
