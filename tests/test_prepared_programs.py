"""The list of public programs, and what is done to prepare one."""

import json
import subprocess

import numpy as np
import pytest

from tracegrad import vision

MAIN = "from __future__ import annotations\nimport torch\nEPOCHS = 10\n"


@pytest.fixture(scope="module")
def preparing():
    """The module that asks for scikit-learn, whose import takes a second: in the worker that has these tests."""
    return pytest.importorskip("tracegrad.benchmarks.prepare_programs")


def git(folder, *arguments):
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", "-C", folder, *author, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clones(tmp_path):
    """A folder of clones with one repository, ``some/programs``."""
    clone = tmp_path / "clones" / "some" / "programs"
    (clone / "part").mkdir(parents=True)
    (clone / "part" / "main.py").write_text(MAIN)
    (clone / "part" / "other.py").write_text("")
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "All")
    return str(tmp_path / "clones" / "{owner}" / "{name}"), git(clone, "rev-parse", "HEAD").strip()


def entry(commit, **others):
    file = {"main": "part/main.py", "take": ["part/main.py"], "path": "part/main.py"}
    return {"name": "own", "repo": "some/programs", "commit": commit, **file, **others}


def test_the_list_says_what_is_needed_and_each_program_once(preparing):
    programs = json.loads(preparing.LIST.read_text())
    assert len({program["name"] for program in programs}) == len(programs) >= 40
    assert sum("long" in program for program in programs) >= 20  # those that have a second size
    for program in programs:
        assert {"name", "kind", "repo", "commit", "licence", "path", "what", "args", "take", "main"} <= set(program)
        assert "long" not in program or (program["long"]["what"] and {"args", "patch"} & set(program["long"]))
        assert all(kind in preparing.DATA for kind, *_ in program.get("data", ()))


def test_a_program_is_taken_changed_and_begins_with_seeds(preparing, clones, tmp_path):
    where, commit = clones
    patch = {"part/main.py": [["EPOCHS = 10", "EPOCHS = 1"]]}
    preparing.prepare(entry(commit, patch=patch), tmp_path / "own", where)
    main = tmp_path / "own" / "files" / "part" / "main.py"
    assert "EPOCHS = 1\n" in main.read_text() and not main.with_name("other.py").exists()
    assert main.read_text().startswith("from __future__ import annotations\nimport atexit")
    assert json.loads((tmp_path / "own" / "program.json").read_text())["repo"] == "some/programs"


def test_a_text_that_is_not_there_is_an_error(preparing, clones, tmp_path):
    where, commit = clones
    patch = {"part/main.py": [["EPOCHS = 12", "EPOCHS = 1"]]}
    with pytest.raises(ValueError, match=r"main\.py does not hold 'EPOCHS = 12'"):
        preparing.prepare(entry(commit, patch=patch), tmp_path / "own", where)


def test_digits_are_read_as_mnist(preparing, tmp_path):
    preparing.digits(tmp_path, 20, 10)
    train, test = vision.datasets.MNIST(tmp_path), vision.datasets.MNIST(tmp_path, train=False)
    assert (len(train), len(test)) == (20, 10)
    image, label = train[3]
    assert image.size == (28, 28) and np.asarray(image).max() > 150 and 0 <= label < 10


def test_citations_name_papers_that_exist(preparing, tmp_path):
    preparing.citations(tmp_path, nodes=40, words=30, edges=60, classes=3)
    papers = np.genfromtxt(tmp_path / "cora.content", dtype=str)
    cited = np.genfromtxt(tmp_path / "cora.cites", dtype=int)
    assert papers.shape == (40, 32) and cited.shape[1] == 2 and set(cited.ravel()) <= set(papers[:, 0].astype(int))


def test_texts_have_so_many_words(preparing, tmp_path):
    preparing.words(tmp_path, 500, 100)
    assert abs(len((tmp_path / "train.txt").read_text().split()) - 500) < 20
    preparing.characters(tmp_path)
    train, other = (np.fromfile(tmp_path / f"{name}.bin", np.uint16) for name in ("train", "val"))
    assert len(train) > 8 * len(other) and other.max() <= 300
