"""Networks for images, without pretrained weights."""

from __future__ import annotations

from . import resnet, vgg
from .alexnet import AlexNet, AlexNet_Weights, alexnet
from .resnet import (
    ResNet,
    ResNet18_Weights,
    ResNet34_Weights,
    ResNet50_Weights,
    ResNet101_Weights,
    ResNet152_Weights,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
    resnext50_32x4d,
    resnext101_32x8d,
    wide_resnet50_2,
    wide_resnet101_2,
)
from .vgg import (
    VGG,
    VGG11_Weights,
    VGG13_Weights,
    VGG16_Weights,
    VGG19_Weights,
    vgg11,
    vgg11_bn,
    vgg13,
    vgg13_bn,
    vgg16,
    vgg16_bn,
    vgg19,
    vgg19_bn,
)

__all__ = [
    "VGG", "AlexNet", "AlexNet_Weights", "ResNet", "ResNet101_Weights", "ResNet152_Weights", "ResNet18_Weights",
    "ResNet34_Weights", "ResNet50_Weights", "VGG11_Weights", "VGG13_Weights", "VGG16_Weights", "VGG19_Weights",
    "alexnet", "resnet", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "resnext101_32x8d",
    "resnext50_32x4d", "vgg", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn",
    "wide_resnet101_2", "wide_resnet50_2",
]  # fmt: skip
