"""Residual networks (He et al. 2015), with the parameter names and initial values of torchvision's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import nn
from ...functional.shapes import flatten
from .weights import refuse_weights, weights_of


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """A convolution of 3 x 3 that keeps the size, but for its stride."""
    return nn.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation, groups, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """A product for each pixel."""
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two convolutions around which the input goes."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """Three convolutions, the middle one of which has fewer channels, around which the input goes."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """Four groups of blocks, `layers` in each, between a convolution and a linear layer for `num_classes`.

    Images are (batch, 3, height, width).
    """

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes = 64
        self.dilation = 1
        dilated = [False] * 3 if replace_stride_with_dilation is None else replace_stride_with_dilation
        if len(dilated) != 3:
            raise ValueError(
                f"replace_stride_with_dilation should be None or a 3-element tuple, got {replace_stride_with_dilation}"
            )
        self.groups = groups
        self.base_width = width_per_group
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], stride=2, dilate=dilated[0])
        self.layer3 = self._make_layer(block, 256, layers[2], stride=2, dilate=dilated[1])
        self.layer4 = self._make_layer(block, 512, layers[3], stride=2, dilate=dilated[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        self._initialize(zero_init_residual)

    def _make_layer(
        self, block: type[BasicBlock | Bottleneck], planes: int, blocks: int, stride: int = 1, dilate: bool = False
    ) -> nn.Sequential:
        before = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                conv1x1(self.inplanes, planes * block.expansion, stride), self._norm_layer(planes * block.expansion)
            )
        options = (self.groups, self.base_width)
        made = [block(self.inplanes, planes, stride, downsample, *options, before, self._norm_layer)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            made.append(block(self.inplanes, planes, 1, None, *options, self.dilation, self._norm_layer))
        return nn.Sequential(*made)

    def _initialize(self, zero_init_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
        if zero_init_residual:
            for module in self.modules():
                last = getattr(module, "bn3" if isinstance(module, Bottleneck) else "bn2", None)
                if isinstance(module, (Bottleneck, BasicBlock)) and last is not None and last.weight is not None:
                    nn.init.constant_(last.weight, 0)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(flatten(self.avgpool(x), 1))


def _maker(name: str, block: type[BasicBlock | Bottleneck], layers: Sequence[int], **defaults: Any) -> Any:
    def make(weights: Any = None, progress: bool = True, **kwargs: Any) -> ResNet:
        refuse_weights(name, weights, kwargs)
        return ResNet(block, layers, **{**defaults, **kwargs})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""The residual network {name}; RuntimeError for `weights`.

    Other arguments are those of `ResNet`: `num_classes` (1000), ...
    """
    return make


resnet18 = _maker("resnet18", BasicBlock, (2, 2, 2, 2))
resnet34 = _maker("resnet34", BasicBlock, (3, 4, 6, 3))
resnet50 = _maker("resnet50", Bottleneck, (3, 4, 6, 3))
resnet101 = _maker("resnet101", Bottleneck, (3, 4, 23, 3))
resnet152 = _maker("resnet152", Bottleneck, (3, 8, 36, 3))
resnext50_32x4d = _maker("resnext50_32x4d", Bottleneck, (3, 4, 6, 3), groups=32, width_per_group=4)
resnext101_32x8d = _maker("resnext101_32x8d", Bottleneck, (3, 4, 23, 3), groups=32, width_per_group=8)
wide_resnet50_2 = _maker("wide_resnet50_2", Bottleneck, (3, 4, 6, 3), width_per_group=128)
wide_resnet101_2 = _maker("wide_resnet101_2", Bottleneck, (3, 4, 23, 3), width_per_group=128)

ResNet18_Weights = weights_of("ResNet18", "IMAGENET1K_V1")
ResNet34_Weights = weights_of("ResNet34", "IMAGENET1K_V1")
ResNet50_Weights = weights_of("ResNet50", "IMAGENET1K_V1", "IMAGENET1K_V2")
ResNet101_Weights = weights_of("ResNet101", "IMAGENET1K_V1", "IMAGENET1K_V2")
ResNet152_Weights = weights_of("ResNet152", "IMAGENET1K_V1", "IMAGENET1K_V2")
