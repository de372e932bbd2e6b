"""What leaves a program that is run shows the program's lines, and none of the library's, whatever has raised it."""

import io
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import pytest

import tracegrad
from tracegrad.commandline import program

ROOT = Path(tracegrad.__file__).resolve().parent

SETUP = "import torch\nfrom torch import nn, optim\nx, r = torch.ones(2, 3), torch.ones(2, requires_grad=True)\n"
FAULTS = {
    "item": "x.item()", "bool": "bool(x)", "float": "float(x)", "int": "int(x)", "index": "[1, 2][x]",
    "len": "len(torch.tensor(1.))", "iter": "iter(torch.tensor(1.))", "numpy": "r.numpy()", "getitem": "x[5]",
    "many indices": "x[0, 0, 0]", "setitem": "x[0] = torch.ones(7)", "repeated list": "x * 'a'",
    "heads": "nn.MultiheadAttention(5, 2)", "leaf": "r.add_(1)", "state dict": "nn.Linear(2, 2).load_state_dict({})",
    "no parameters": "optim.SGD([], lr=1)", "rate": "optim.SGD([r], lr=-1)",
    "scheduler": "optim.lr_scheduler.StepLR(1, 1)",
    "device": "torch.device('nothing')", "name": "torch.nothing", "module's name": "nn.Linear(1, 1).nothing",
    "parameter": "nn.Linear(1, 1).weight = 3", "distribution": "torch.distributions.Normal(0., -1.)",
    "data set": "torch.utils.data.TensorDataset(x, torch.ones(5))",
    "tensor's name": "x.nothing", "contains": "'a' in x", "copy": "__import__('copy').deepcopy(r * 2)",
    "array": "torch.from_numpy([1])", "layer": "nn.Dropout(2)",
    "list": "nn.ModuleList([1])", "grad": "r.grad = torch.ones(5)",
    "shapes": "x @ x", "views": "x.view(5)", "loss": "nn.functional.cross_entropy(x, torch.tensor([0]))",
}  # fmt: skip
CHAINED = "try:\n    {fault}\nexcept Exception as error:\n    raise ValueError('mine') from error\n"


def files_of(error):
    while error is not None:
        yield from (entry.filename for entry in traceback.extract_tb(error.__traceback__))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def left_by(tmp_path, text):
    """What leaves a program, and the files that are in its traceback without those of who runs it."""
    path = tmp_path / "prog.py"
    path.write_text(text)
    before = sys.argv, sys.path[:], sys.modules["__main__"], sys.excepthook
    try:
        with tracegrad.shim.installed(), pytest.raises(Exception) as found:  # noqa: PT011
            program.run(str(path), [], False)
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"], sys.excepthook = before
    files = [Path(file) for file in files_of(found.value) if file not in (__file__, program.__file__)]
    return found.value, [file for file in files if not file.name.startswith("<")], path


@pytest.mark.long(fast=7)
@pytest.mark.parametrize(
    "form", ["{fault}", "def main():\n    {fault}\nmain()\n", CHAINED], ids=["line", "def", "cause"]
)
@pytest.mark.parametrize("name", FAULTS)
def test_the_frames_of_the_library_are_folded(tmp_path, name, form):
    error, files, path = left_by(tmp_path, SETUP + form.format(fault=FAULTS[name]) + "\n")
    assert not [file for file in files if file.is_relative_to(ROOT)], error
    assert path in files


def test_what_a_function_of_the_program_raises_keeps_its_frames(tmp_path):
    text = "class D:\n    def __len__(self):\n        return 2\n    def __getitem__(self, i):\n"
    text += "        raise KeyError('mine')\nlist(torch.utils.data.DataLoader(D()))\n"
    error, files, path = left_by(tmp_path, SETUP + text)
    assert files.count(path) == 2 and "mine" in str(error)


def test_it_is_printed_so(tmp_path):
    (tmp_path / "prog.py").write_text(
        textwrap.dedent("import torch\ndef f(x):\n    return x.item()\nf(torch.ones(2))\n")
    )
    command = [sys.executable, "-m", "tracegrad", "run", "prog.py"]
    written = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr
    lines = io.StringIO(written).readlines()
    assert [line.split(",")[0].rpartition("/")[2] for line in lines if "File " in line] == ['prog.py"'] * 2
    assert lines[-1].startswith("RuntimeError: a Tensor with 2 elements")
