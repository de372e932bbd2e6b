"""What the public programs ask of torchvision, for their runs under PyTorch, where torchvision is not installed.

Pictures go the way that torchvision takes: array, pillow, transforms, tensor, one at a time.
"""

import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from PIL import Image


class MNIST(torch.utils.data.Dataset):
    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        raw = Path(root) / "MNIST" / "raw"
        name = "train" if train else "t10k"
        pictures = np.fromfile(raw / f"{name}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 28, 28)
        self.data = torch.from_numpy(pictures.copy())
        self.targets = torch.from_numpy(np.fromfile(raw / f"{name}-labels-idx1-ubyte", np.uint8)[8:].astype(np.int64))
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image, target = Image.fromarray(self.data[index].numpy()), int(self.targets[index])
        image = image if self.transform is None else self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    def __call__(self, image):
        array = np.array(image)
        array = array[:, :, None] if array.ndim == 2 else array
        return torch.from_numpy(array).permute(2, 0, 1).contiguous().float().div(255)


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = mean, std

    def __call__(self, image):
        mean, std = (torch.as_tensor(each, dtype=image.dtype).view(-1, 1, 1) for each in (self.mean, self.std))
        return image.clone().sub_(mean).div_(std)


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        width, height = image.size
        shorter = min(width, height)
        if shorter == self.size:
            return image
        return image.resize((width * self.size // shorter, height * self.size // shorter), Image.BILINEAR)


def make_grid(images, nrow=8, padding=2, normalize=False):
    images = images if images.dim() == 4 else images.unsqueeze(0)
    images = images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images
    if normalize:
        low, high = float(images.min()), float(images.max())
        images = images.clamp(low, high).sub(low).div(max(high - low, 1e-5))
    columns = min(nrow, len(images))
    height, width = images.shape[2] + padding, images.shape[3] + padding
    rows = math.ceil(len(images) / columns)
    grid = images.new_zeros(images.shape[1], rows * height + padding, columns * width + padding)
    for i, image in enumerate(images):
        y, x = divmod(i, columns)
        grid[:, y * height + padding : (y + 1) * height, x * width + padding : (x + 1) * width] = image
    return grid


def save_image(tensor, fp, nrow=8, padding=2, normalize=False, format=None):
    grid = make_grid(tensor.detach(), nrow, padding, normalize)
    levels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to(torch.uint8).numpy()
    Image.fromarray(levels).save(fp, format=format)


def _module(name, *contents):
    module = sys.modules[f"{__name__}.{name}"] = ModuleType(f"{__name__}.{name}")
    vars(module).update({each.__name__: each for each in contents})
    return module


datasets = _module("datasets", MNIST)
transforms = _module("transforms", Compose, ToTensor, Normalize, Resize)
utils = _module("utils", make_grid, save_image)
