"""Data sets in files: written here as their makers write them, whole and damaged; none is downloaded."""

import gzip
import os
import pickle
import random

import numpy as np
import pytest
from image_samples import Image, photograph

from tracegrad.vision import datasets, transforms


def idx(array):
    kind = {"uint8": 8, "int32": 12, "float32": 13}[array.dtype.name]
    header = bytes([0, 0, kind, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


def digits(count=30):
    """Pictures of digits in MNIST's size, and what they are."""
    found = pytest.importorskip("sklearn.datasets").load_digits()
    images = np.kron(found.images[:count] * 15, np.ones((3, 3))).astype(np.uint8)
    return np.pad(images, ((0, 0), (2, 2), (2, 2))), found.target[:count].astype(np.uint8)


def write_mnist(root, name="MNIST", prefix=("train", "t10k"), compress=False, count=30):
    folder = root / name / "raw"
    folder.mkdir(parents=True)
    images, labels = digits(count)
    for part in prefix:
        for kind, array in (("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels)):
            path, data = folder / f"{part}-{kind}", idx(array)
            if compress:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(data))
            else:
                path.write_bytes(data)
    return images, labels


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_mnist(tg, tmp_path, name, compress):
    images, labels = write_mnist(tmp_path, name, compress=compress)
    kind = getattr(datasets, name)
    for train in (True, False):
        found = kind(str(tmp_path), train=train, download=True)
        assert len(found) == 30 and found.data.dtype == tg.uint8 and found.targets.dtype == tg.int64
        assert np.array_equal(found.data.numpy(), images) and found.targets.tolist() == labels.tolist()
        image, label = found[3]
        assert image.mode == "L" and np.array_equal(np.asarray(image), images[3]) and label == labels[3]
        assert type(label) is int and len(found.classes) == 10 and found.class_to_idx[found.classes[4]] == 4
    made = kind(tmp_path, transform=transforms.ToTensor(), target_transform=lambda label: label + 100)
    image, label = made[-1]
    assert image.shape == (1, 28, 28) and label == labels[-1] + 100
    assert repr(made).splitlines()[:4] == [
        f"Dataset {name}", "    Number of datapoints: 30", f"    Root location: {tmp_path}", "    Split: Train"
    ]  # fmt: skip
    assert repr(made).splitlines()[4:6] == ["    StandardTransform", "    Transform: ToTensor()"]
    with pytest.warns(UserWarning, match="train_labels has been renamed targets"):
        assert made.train_labels is made.targets


def test_emnist(tmp_path):
    write_mnist(tmp_path, "EMNIST", ("emnist-letters-train", "emnist-letters-test"))
    found = datasets.EMNIST(tmp_path, split="letters", train=False)
    assert len(found) == 30 and len(found.classes) == 27 and found.classes[:2] == ["N/A", "a"]
    assert [len(datasets.EMNIST.classes_split_dict[s]) for s in datasets.EMNIST.splits] == [62, 47, 47, 27, 10, 10]
    with pytest.raises(ValueError, match="Unknown value 'words' for argument split"):
        datasets.EMNIST(tmp_path, split="words")


ABSENT = {
    "MNIST": lambda root: datasets.MNIST(root),
    "MNIST, download": lambda root: datasets.MNIST(root, download=True),
    "CIFAR10": lambda root: datasets.CIFAR10(root, download=True),
    "CIFAR100": lambda root: datasets.CIFAR100(root),
    "SVHN": lambda root: datasets.SVHN(root, download=True),
}


@pytest.mark.parametrize("name", ABSENT)
def test_files_that_are_not_there(tmp_path, name):
    with pytest.raises(RuntimeError, match=r"(?s)Dataset not found\..*nothing is downloaded.*Looked for .* in .*hand"):
        ABSENT[name](str(tmp_path))
    assert os.listdir(tmp_path) == []


def damaged(data, generator):
    """The bytes with some changed, taken away or added."""
    out = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        at = generator.choice([generator.randrange(16), generator.randrange(len(out) or 1)]) % (len(out) or 1)
        match generator.randrange(4):
            case 0:
                out[at : at + 1] = bytes([generator.randrange(256)])
            case 1:
                del out[at:]
            case 2:
                out[at:at] = generator.randbytes(generator.randrange(1, 9))
            case 3:
                out[at : at + 4] = generator.choice([b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4])
        out = out or bytearray(b"\0")
    return bytes(out)


def test_damaged_files_of_mnist(tmp_path):
    """An error that names the file, or an array of the size that the file says: never anything else."""
    whole, path = idx(np.arange(60, dtype=np.uint8).reshape(3, 4, 5)), str(tmp_path / "train")
    generator, refused = random.Random(1), 0
    for i in range(300):
        data = damaged(gzip.compress(whole) if i % 4 == 0 else whole, generator)
        path = str(tmp_path / ("train.gz" if i % 4 == 0 else "train"))
        with open(path, "wb") as file:
            file.write(data)
        try:
            assert datasets.mnist.read_idx(path).size <= 200
        except ValueError as error:
            refused += 1
            assert path in str(error)
    assert 200 < refused < 300


def write_cifar(root, fine=False):
    folder = root / ("cifar-100-python" if fine else "cifar-10-batches-py")
    folder.mkdir()
    pixels = np.arange(4 * 3072, dtype=np.int64).astype(np.uint8).reshape(4, 3072)
    names = ["train", "test"] if fine else [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
    for name in names:
        batch = {"data": pixels, "fine_labels" if fine else "labels": [3, 1, 0, 2], "batch_label": name}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    meta = {"fine_label_names" if fine else "label_names": [f"class {i}" for i in range(10)]}
    (folder / ("meta" if fine else "batches.meta")).write_bytes(pickle.dumps(meta, protocol=2))
    return folder, pixels


@pytest.mark.parametrize("fine", [False, True])
def test_cifar(tmp_path, fine):
    _, pixels = write_cifar(tmp_path, fine)
    kind = datasets.CIFAR100 if fine else datasets.CIFAR10
    train, test = kind(tmp_path), kind(str(tmp_path), train=False, transform=transforms.ToTensor())
    assert len(train) == (4 if fine else 20) and len(test) == 4 and train.targets[:4] == [3, 1, 0, 2]
    assert train.data.shape[1:] == (32, 32, 3) and train.classes[2] == "class 2" and train.class_to_idx["class 2"] == 2
    image, label = train[1]
    assert image.mode == "RGB" and np.array_equal(np.asarray(image), pixels[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert label == 1 and test[2][0].shape == (3, 32, 32)


class Command:
    def __reduce__(self):
        return os.mkdir, ("/tmp/never",)


def test_files_of_cifar_run_nothing(tmp_path):
    folder, _ = write_cifar(tmp_path)
    (folder / "data_batch_3").write_bytes(pickle.dumps({"data": Command(), "labels": []}))
    with pytest.raises(pickle.UnpicklingError, match=r"the file names .*mkdir, which no file of CIFAR does"):
        datasets.CIFAR10(tmp_path)
    for wrong in (b"", b"\x80", b"abc", pickle.dumps([1])):
        (folder / "data_batch_3").write_bytes(wrong)
        with pytest.raises(pickle.UnpicklingError):
            datasets.CIFAR10(tmp_path)


def test_svhn(tmp_path):
    io = pytest.importorskip("scipy.io")
    pixels = np.arange(32 * 32 * 3 * 5).astype(np.uint8).reshape(32, 32, 3, 5)
    io.savemat(tmp_path / "test_32x32.mat", {"X": pixels, "y": np.array([[10], [1], [2], [3], [9]], np.uint8)})
    found = datasets.SVHN(tmp_path, split="test")
    assert found.labels.tolist() == [0, 1, 2, 3, 9] and found.data.shape == (5, 3, 32, 32) and len(found) == 5
    image, label = found[4]
    assert label == 9 and np.array_equal(np.asarray(image), pixels[:, :, :, 4])


def write_folders(root):
    for name, count in (("dog", 3), ("cat", 2), ("ant", 1)):
        (root / name / "deeper").mkdir(parents=True)
        for i in range(count):
            photograph(8 + i, 9).save(root / name / ("deeper" if i == 2 else "") / f"{i}.png")
        (root / name / "notes.txt").write_text("no image")
    (root / "a file").write_text("no folder")


def test_image_folder(tg, tmp_path):
    write_folders(tmp_path)
    transform = transforms.Compose([transforms.Resize((4, 4)), transforms.ToTensor()])
    found = datasets.ImageFolder(str(tmp_path), transform=transform)
    assert found.classes == ["ant", "cat", "dog"] and found.class_to_idx == {"ant": 0, "cat": 1, "dog": 2}
    assert found.targets == [0, 1, 1, 2, 2, 2] and found.imgs is found.samples and len(found) == 6
    dogs = [os.path.relpath(path, tmp_path) for path, _ in found.samples[3:]]
    assert dogs == ["dog/0.png", "dog/1.png", "dog/deeper/2.png"]
    x, y = next(iter(tg.utils.data.DataLoader(found, 6)))
    assert x.shape == (6, 3, 4, 4) and y.tolist() == found.targets
    texts = datasets.DatasetFolder(tmp_path, loader=lambda path: open(path).read(), extensions=(".txt",))
    assert texts[0] == ("no image", 0) and len(texts) == 3
    with pytest.raises(FileNotFoundError, match="for the classes ant, cat, dog. Supported extensions are: .x"):
        datasets.DatasetFolder(tmp_path, loader=open, extensions=(".x",))
    with pytest.raises(FileNotFoundError, match="Couldn't find any class folder"):
        datasets.ImageFolder(tmp_path / "dog" / "deeper")
    assert len(datasets.ImageFolder(tmp_path, is_valid_file=lambda path: path.endswith("0.png"))) == 3
    with pytest.raises(ValueError, match="cannot be None or not None at the same time"):
        datasets.folder.make_dataset(tmp_path)


def test_fake_data(tg):
    tg.manual_seed(5)
    found = datasets.FakeData(4, (3, 8, 9), 5, random_offset=7)
    image, label = found[2]
    drawn = tg.rand(2)
    tg.manual_seed(5)
    assert tg.equal(drawn, tg.rand(2))  # what looking at an item draws is nobody else's
    tg.manual_seed(9)
    pixels = (tg.randn(3, 8, 9) * 255).to(tg.int64).numpy()
    assert label == tg.randint(0, 5, (1,)).item()
    assert np.array_equal(np.asarray(image), (pixels % 256).transpose(1, 2, 0))
    assert np.array_equal(np.asarray(found[2][0]), np.asarray(image)) and isinstance(image, Image.Image)
    with pytest.raises(IndexError):
        found[4]
    assert len(list(found)) == 4


@pytest.mark.long
def test_digits_are_learned_from_files(tg, tmp_path):
    """The usual program: files, transforms, two workers, a network; eager and compiled learn the same."""
    write_mnist(tmp_path, count=300)
    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    dataset = datasets.MNIST(str(tmp_path), train=True, download=True, transform=transform)

    def losses(wrap):
        tg.manual_seed(1)
        model = tg.nn.Sequential(tg.nn.Flatten(), tg.nn.Linear(784, 32), tg.nn.ReLU(), tg.nn.Linear(32, 10))
        optimizer = tg.optim.Adam(model.parameters(), lr=0.01)

        def step(x, y):
            optimizer.zero_grad()
            loss = tg.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = wrap(step)
        loader = tg.utils.data.DataLoader(dataset, 50, shuffle=True, num_workers=2, persistent_workers=True)
        return [step(x, y).item() for _ in range(4) for x, y in loader]

    eager = losses(lambda step: step)
    assert eager[0] > 2 and eager[-1] < 0.2 and losses(tg.compile) == pytest.approx(eager, rel=1e-3, abs=1e-4)
