"""Data sets in MNIST's file format: arrays of bytes behind a header of sizes ("idx")."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...tensors.creation import from_numpy
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from .._images import array_of, pillow
from .vision import Transform, VisionDataset, not_found

#: The types of numbers by the third byte of a file.
_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: str) -> np.ndarray:
    """The array in a file, which may be compressed by gzip.

    ValueError for a file that is none, or whose length is not what its header says.
    """
    opened: Any = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            data = file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is no whole file of gzip: {error}\n  Get the file once more.") from error
    kind, dimensions = (data[2], data[3]) if len(data) >= 4 and data[:2] == b"\0\0" else (0, 0)
    start = 4 + 4 * dimensions
    if kind not in _TYPES or not 1 <= dimensions <= 3 or len(data) < start:
        raise ValueError(f"{path} does not begin as an idx file does\n  Get the file once more.")
    shape = [int(size) for size in np.frombuffer(data, ">i4", dimensions, 4)]
    dtype = np.dtype(_TYPES[kind])
    needed = dtype.itemsize * int(np.prod(shape, dtype=object))
    if min(shape) < 0 or needed != len(data) - start:
        raise ValueError(
            f"{path} says that it holds {shape} numbers, {needed} bytes, and has {len(data) - start}\n"
            "  Get the file once more."
        )
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def read_image_file(path: str) -> Tensor:
    """The images of a file: uint8 (count, height, width)."""
    return from_numpy(_checked(path, np.uint8, 3))


def read_label_file(path: str) -> Tensor:
    """The labels of a file: int64 (count)."""
    return from_numpy(_checked(path, np.uint8, 1).astype(np.int64))


def _checked(path: str, dtype: type, dimensions: int) -> np.ndarray:
    found = read_idx(path)
    if found.dtype != dtype or found.ndim != dimensions:
        raise ValueError(f"{path} holds {found.ndim}-dimensional {found.dtype}, not bytes in {dimensions} dimensions")
    return found


class MNIST(VisionDataset):
    """Handwritten digits: 60000 images to train, 10000 to test, 28 x 28 bytes each. Item i is an image of PIL and its
    label, after their transforms; `data` and `targets` are the tensors.

    The files (``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-...``, as they are or as ``.gz``) stand
    in ``root/MNIST/raw``. RuntimeError if they do not.

    Difference: nothing is downloaded; `download` is allowed, and asks for files that are there.
    """

    classes = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
        "9 - nine",
    ]  # fmt: skip
    _source = "they are those of the MNIST database (yann.lecun.com/exdb/mnist, and its mirrors)."

    def __init__(
        self,
        root: str | Path,
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise not_found(type(self).__name__, list(self._files(train)), self.raw_folder, self._source)
        self.data, self.targets = self._load_data()

    @property
    def raw_folder(self) -> str:
        """The folder with the files."""
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self) -> str:
        """A folder of older versions."""
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The labels by name."""
        return {name: i for i, name in enumerate(self.classes)}

    def _files(self, train: bool) -> tuple[str, str]:
        part = "train" if train else "t10k"
        return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"

    def _path(self, name: str) -> str | None:
        paths = [os.path.join(self.raw_folder, name + end) for end in ("", ".gz")]
        return next((path for path in paths if os.path.isfile(path)), None)

    def _check_exists(self) -> bool:
        return all(self._path(name) is not None for name in self._files(self.train))

    def download(self) -> None:
        """Nothing if the files are there. RuntimeError, which says where to put them, otherwise."""
        if not self._check_exists():
            raise not_found(type(self).__name__, list(self._files(self.train)), self.raw_folder, self._source)

    def _load_data(self) -> tuple[Tensor, Tensor]:
        images, labels = (self._path(name) or "" for name in self._files(self.train))
        data, targets = read_image_file(images), read_label_file(labels)
        if len(data) != len(targets):
            raise ValueError(f"{images} has {len(data)} images, and {labels} {len(targets)} labels")
        return data, targets

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        pixels = array_of(self.data, "an item of a data set")[index]
        target = int(array_of(self.targets, "an item of a data set")[index])
        return self._transformed(pillow().fromarray(pixels), target)

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"

    def _older(self, name: str, value: Tensor) -> Tensor:
        part, _, what = name.partition("_")
        new = "targets" if what == "labels" else "data"
        warn_user(f"{name} has been renamed {new}")
        return value

    @property
    def train_labels(self) -> Tensor:
        """The older name of `targets`."""
        return self._older("train_labels", self.targets)

    @property
    def test_labels(self) -> Tensor:
        """The older name of `targets`."""
        return self._older("test_labels", self.targets)

    @property
    def train_data(self) -> Tensor:
        """The older name of `data`."""
        return self._older("train_data", self.data)

    @property
    def test_data(self) -> Tensor:
        """The older name of `data`."""
        return self._older("test_data", self.data)


class FashionMNIST(MNIST):
    """Articles of clothing, in as many images as MNIST has; the files stand in ``root/FashionMNIST/raw``."""

    classes = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip
    _source = "they are those of github.com/zalandoresearch/fashion-mnist."


class KMNIST(MNIST):
    """Cursive Japanese characters, in as many images as MNIST has; the files stand in ``root/KMNIST/raw``."""

    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]
    _source = "they are those of codh.rois.ac.jp/kmnist."


class EMNIST(MNIST):
    """Handwritten letters and digits; `split` is "byclass", "bymerge", "balanced", "letters", "digits" or "mnist".

    The files (``emnist-letters-train-images-idx3-ubyte``, ...) stand in ``root/EMNIST/raw``. ValueError for another
    split.
    """

    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    _digits, _upper = set("0123456789"), set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    _lower = set("abcdefghijklmnopqrstuvwxyz")
    _merged = set("cijklmopsuvwxyz")
    classes_split_dict = {
        "byclass": sorted(_digits | _upper | _lower),
        "bymerge": sorted((_digits | _upper | _lower) - _merged),
        "balanced": sorted((_digits | _upper | _lower) - _merged),
        "letters": ["N/A", *sorted(_lower)],
        "digits": sorted(_digits),
        "mnist": sorted(_digits),
    }
    _source = "they are in the archive gzip.zip of www.nist.gov/itl/products-and-services/emnist-dataset."

    def __init__(self, root: str | Path, split: str, **kwargs: Any) -> None:
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {set(self.splits)}.")
        self.split = split
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[split]

    def _files(self, train: bool) -> tuple[str, str]:
        part = f"emnist-{self.split}-{'train' if train else 'test'}"
        return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"
