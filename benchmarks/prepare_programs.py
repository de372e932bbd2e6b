"""Prepares the folder of programs that ``python -m benchmarks.public_programs`` runs.

    python -m benchmarks.prepare_programs FOLDER --clones "clones/{owner}/{name}" [--only NAME ...]

``public_programs.json`` says for each program where it stands (repository, commit), which of its files are taken, what
is replaced in them (its size, downloads, names that packages no longer have), and which data are made for it. Nothing
of the programs themselves is kept here: their repositories have to be on this machine, one clone each, where
``--clones`` says. The programs want argcomplete, attrs, autograd, gymnasium, imageio, matplotlib, pandas, requests,
scikit-learn, scipy, seaborn, tqdm and tyro.

The runs under PyTorch get ``torchvision_parts.py`` as ``torchvision``: ``--torch-path FOLDER/torch_path``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import pickle
import pydoc_data.topics
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

LIST = Path(__file__).with_name("public_programs.json")
PROLOGUE = Path(__file__).with_name("program_prologue.py")
TORCHVISION = Path(__file__).with_name("torchvision_parts.py")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prepare_programs",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clones", required=True, help="where clones are: a path with {owner} and {name}")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs; all without it")
    options = parser.parse_args()
    for program in json.loads(LIST.read_text()):
        if not options.only or program["name"] in options.only:
            prepare(program, options.folder / program["name"], options.clones)
    package = options.folder / "torch_path" / "torchvision"
    package.mkdir(parents=True, exist_ok=True)
    shutil.copy(TORCHVISION, package / "__init__.py")


def prepare(program: dict[str, Any], folder: Path, clones: str) -> None:
    """Writes ``files`` and ``program.json`` of one program, in the place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    files = folder / "files"
    files.mkdir(parents=True)
    owner, name = program["repo"].split("/")
    _take(Path(clones.format(owner=owner, name=name)), program, files)
    for file, pairs in program.get("patch", {}).items():
        replace(files / file, pairs)
    for kind, place, *sizes in program.get("data", ()):
        DATA[kind](files / place, *sizes)
    _begin_with_prologue(files / program["main"])
    (folder / "program.json").write_text(json.dumps(program, indent=1))


def _take(clone: Path, program: dict[str, Any], files: Path) -> None:
    """The named files and folders of the commit; of a notebook the named cells, as the main file."""
    listed = _git(clone, "ls-tree", "-rz", "--name-only", program["commit"], "--", *program["take"]).decode()
    for path in filter(None, listed.split("\0")):
        content = _git(clone, "show", f"{program['commit']}:{path}")
        if "cells" in program and path == program["path"]:
            path, content = program["main"], source_of(json.loads(content), program["cells"]).encode()
        (files / path).parent.mkdir(parents=True, exist_ok=True)
        (files / path).write_bytes(content)


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True).stdout


def source_of(notebook: dict[str, Any], cells: list[int]) -> str:
    """The Python lines of a notebook's cells.

    >>> source_of({"cells": [{"source": ["%matplotlib inline\\n", "x = 1\\n"]}, {"source": ["y = 2"]}]}, [0, 1])
    'x = 1\\n\\ny = 2\\n'
    """
    texts = ["".join(line for line in notebook["cells"][i]["source"] if line[:1] not in "%!") for i in cells]
    return "\n".join(texts) + "\n"


def replace(file: Path, pairs: list[list[str]]) -> None:
    """Replaces texts in a file; each must be there."""
    text = file.read_text()
    for old, new in pairs:
        if old not in text:
            raise ValueError(f"{file} does not hold {old!r}, which is to be replaced: is it the commit of the list?")
        text = text.replace(old, new)
    file.write_text(text)


def _begin_with_prologue(main: Path) -> None:
    """Seeds, and a record of losses, before the program's first line (but after what has to stand first)."""
    lines = main.read_text().splitlines(keepends=True)
    after = max((i + 1 for i, line in enumerate(lines) if line.startswith("from __future__")), default=0)
    main.write_text("".join([*lines[:after], PROLOGUE.read_text(), *lines[after:]]))


# ---------------------------------------------------------------------------------------------------------------- data


def digits(folder: Path, train: int, test: int) -> None:
    """Pictures of digits in MNIST's files: scikit-learn's, of 8 x 8, three times as large, moved, and with noise."""
    images, labels = load_digits(return_X_y=True)
    draw = np.random.default_rng(0)
    for name, count in (("train", train), ("t10k", test)):
        chosen = draw.integers(0, len(images), count)
        pictures = np.zeros((count, 28, 28))
        for picture, image in zip(pictures, images[chosen], strict=True):
            y, x = draw.integers(0, 5, 2)
            picture[y : y + 24, x : x + 24] = np.kron(image.reshape(8, 8), np.ones((3, 3)))
        pictures = np.clip(pictures * (255 / images.max()) + draw.normal(0, 8, pictures.shape), 0, 255).astype(np.uint8)
        _idx(folder, f"{name}-images-idx3-ubyte", pictures)
        _idx(folder, f"{name}-labels-idx1-ubyte", labels[chosen].astype(np.uint8))


def _idx(folder: Path, name: str, values: np.ndarray) -> None:
    """A file of the IDX format (zeros, type, number of axes, sizes, values), plain and compressed."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    content = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + values.tobytes()
    (raw / name).write_bytes(content)
    (raw / f"{name}.gz").write_bytes(gzip.compress(content))


def citations(folder: Path, nodes: int = 2708, words: int = 1433, edges: int = 5429, classes: int = 7) -> None:
    """A random citation graph of Cora's size, in its files: words and citations lean to a paper's class."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, classes, nodes)
    likely = np.where(np.arange(words) % classes == labels[:, None], 0.04, 0.008)
    has = (draw.random((nodes, words)) < likely).astype(int)
    has[np.arange(nodes), draw.integers(0, words, nodes)] = 1
    source, target = draw.integers(0, nodes, (2, edges * classes))
    kept = np.unique(np.stack([source, target], 1)[(labels[source] == labels[target]) & (source != target)], axis=0)
    folder.mkdir(parents=True, exist_ok=True)
    rows = (f"{i}\t" + "\t".join(map(str, has[i])) + f"\tclass{labels[i]}" for i in range(nodes))
    (folder / "cora.content").write_text("\n".join(rows) + "\n")
    (folder / "cora.cites").write_text("\n".join(f"{a}\t{b}" for a, b in kept[:edges]) + "\n")


def documentation() -> str:
    """English text that is there: the topics of Python's own help."""
    return "\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics))


def words(folder: Path, train: int, other: int) -> None:
    """Three texts of so many words."""
    lines = documentation().splitlines(keepends=True)
    ends = np.cumsum([len(line.split()) for line in lines])
    first, second, third = np.searchsorted(ends, [train, train + other, train + 2 * other])
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", lines[:first]), ("valid", lines[first:second]), ("test", lines[second:third])):
        (folder / f"{name}.txt").write_text("".join(part), encoding="utf8")


def characters(folder: Path) -> None:
    """A text as numbers of characters, nine tenths to train, and how many characters there are."""
    text = documentation()
    number = {character: i for i, character in enumerate(sorted(set(text)))}
    ids = np.array([number[character] for character in text], dtype=np.uint16)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": len(number)}))
    ids[: len(ids) * 9 // 10].tofile(folder / "train.bin")
    ids[len(ids) * 9 // 10 :].tofile(folder / "val.bin")


DATA: dict[str, Callable[..., None]] = {
    "digits": digits, "citations": citations, "words": words, "characters": characters
}  # fmt: skip


if __name__ == "__main__":
    main()
