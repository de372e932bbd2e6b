"""A cache of its own for each test, and compilers that are scripts: they count, note and wait."""

import shutil
import stat
from pathlib import Path

import pytest

ADD = """
int tracegrad_step(void *const *slots)
{
    const float *a = slots[0], *b = slots[1];
    float *sum = slots[2];
    for (long i = 0; i < 4; ++i) sum[i] = a[i] + b[i];
    return 0;
}
"""


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """An empty cache, named by the environment; and no CC of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(folder))
    monkeypatch.delenv("CC", raising=False)
    return folder


@pytest.fixture
def real_compiler():
    path = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if path is None:
        pytest.skip("this test wraps a C compiler, and there is none")
    return path


@pytest.fixture
def script(tmp_path):
    """`script(name, body)`: an executable shell script; the path of it."""

    def make(name: str, body: str, folder: Path = tmp_path) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.fixture
def compilations(script, tmp_path, monkeypatch, real_compiler):
    """$CC notes each of its calls; `compilations()` lists those that made something (the probe makes nothing)."""
    log = tmp_path / "calls"
    log.touch()
    monkeypatch.setenv("CC", str(script("counting-cc", f'echo "$@" >> {log}\nexec {real_compiler} "$@"')))
    return lambda: [line for line in log.read_text().splitlines() if " -o " in line]


@pytest.fixture
def add_source():
    return ADD
