"""Data sets of images, in files that are already there: nothing is downloaded."""

from __future__ import annotations

from . import cifar, fakedata, folder, mnist, svhn, vision
from .cifar import CIFAR10, CIFAR100
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from .svhn import SVHN
from .vision import VisionDataset

__all__ = [
    "CIFAR10", "CIFAR100", "EMNIST", "KMNIST", "MNIST", "SVHN", "DatasetFolder", "FakeData", "FashionMNIST",
    "ImageFolder", "VisionDataset", "cifar", "fakedata", "folder", "mnist", "svhn", "vision",
]  # fmt: skip
