"""What a program trusts by `safe_globals` while torch names this package: files name it by PyTorch's path."""

import importlib
import os
import subprocess
import sys

import pytest

from tracegrad import shim
from tracegrad.serialization.torch_paths import _CLASSES
from tracegrad.serialization.trust import trusted_by_path


@pytest.fixture
def torch(tg):
    if tg.__name__ == "torch":
        pytest.skip("this is about the name torch for tracegrad")
    with shim.install():
        yield importlib.import_module("torch")


@pytest.mark.parametrize("place", _CLASSES)
def test_each_class_is_trusted_by_the_path_that_files_have(torch, place):
    module = importlib.import_module(f"torch.{place}")
    for name in _CLASSES[place].split():
        kind = getattr(module, name, None)
        if kind is not None:
            with torch.serialization.safe_globals([kind]):
                assert trusted_by_path().get(f"torch.{place}.{name}") is kind


PROGRAM = """
import io, torch
file = io.BytesIO()
torch.save(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.1)), file)
file.seek(0)
kinds = [torch.nn.modules.container.Sequential, torch.nn.modules.linear.Linear, torch.nn.modules.dropout.Dropout]
with torch.serialization.safe_globals(kinds):
    print(torch.load(file))
"""


def test_a_program_that_trusts_what_it_saved(tmp_path):
    """In a process where torch named this package before anything was saved."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "tracegrad", "run", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "Dropout(p=0.1" in done.stdout
