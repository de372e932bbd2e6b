"""Deep convolutional networks (Simonyan and Zisserman 2014), with torchvision's parameter names and initial values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ...functional.shapes import flatten
from .weights import refuse_weights, weights_of

#: Channels of the convolutions; "M" halves the size.
cfgs: dict[str, list[Any]] = {
    "A": [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    "B": [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    "D": [64, 64, "M", 128, 128, "M", *[256] * 3, "M", *[512] * 3, "M", *[512] * 3, "M"],
    "E": [64, 64, "M", 128, 128, "M", *[256] * 4, "M", *[512] * 4, "M", *[512] * 4, "M"],
}


def make_layers(cfg: Sequence[Any], batch_norm: bool = False) -> nn.Sequential:
    """Convolutions of 3 x 3 with those channels, normalised with `batch_norm`."""
    layers: list[nn.Module] = []
    channels = 3
    for size in cfg:
        if size == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(channels, size, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2d(size)] if batch_norm else []
        layers.append(nn.ReLU(inplace=True))
        channels = size
    return nn.Sequential(*layers)


class VGG(nn.Module):
    """Convolutions, then three linear layers for `num_classes`. Images are (batch, 3, height, width)."""

    def __init__(
        self, features: nn.Module, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            self._initialize()

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
            else:
                continue
            if module.bias is not None:
                nn.init.constant_(module.bias, 0)

    def forward(self, x: Any) -> Any:
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


def _maker(name: str, cfg: str) -> Any:
    def make(weights: Any = None, progress: bool = True, **kwargs: Any) -> VGG:
        refuse_weights(name, weights, kwargs)
        return VGG(make_layers(cfgs[cfg], name.endswith("_bn")), **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""The network {name}; RuntimeError for `weights`. Other arguments are those of `VGG`."""
    return make


vgg11, vgg11_bn = _maker("vgg11", "A"), _maker("vgg11_bn", "A")
vgg13, vgg13_bn = _maker("vgg13", "B"), _maker("vgg13_bn", "B")
vgg16, vgg16_bn = _maker("vgg16", "D"), _maker("vgg16_bn", "D")
vgg19, vgg19_bn = _maker("vgg19", "E"), _maker("vgg19_bn", "E")

VGG11_Weights = weights_of("VGG11", "IMAGENET1K_V1")
VGG13_Weights = weights_of("VGG13", "IMAGENET1K_V1")
VGG16_Weights = weights_of("VGG16", "IMAGENET1K_V1")
VGG19_Weights = weights_of("VGG19", "IMAGENET1K_V1")
