"""The convolutional network of Krizhevsky (2014), with torchvision's parameter names."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...functional.shapes import flatten
from .weights import refuse_weights, weights_of


class AlexNet(nn.Module):
    """Five convolutions and three linear layers for `num_classes`. Images are (batch, 3, height, width), from 63 pixels
    on."""

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(192, 384, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x: Any) -> Any:
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


def alexnet(weights: Any = None, progress: bool = True, **kwargs: Any) -> AlexNet:
    """The network AlexNet; RuntimeError for `weights`. Other arguments are those of `AlexNet`."""
    refuse_weights("alexnet", weights, kwargs)
    return AlexNet(**kwargs)


AlexNet_Weights = weights_of("AlexNet", "IMAGENET1K_V1")
