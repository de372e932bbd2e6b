"""PyTorch's paths below tracegrad's own name, for programs that changed ``torch`` to ``tracegrad`` throughout."""

import json
import subprocess
import sys

PROGRAM = """
import importlib, json, sys
import tracegrad as torch
reached = [torch.utils.hooks.RemovableHandle.__name__, torch.nn.modules.loss._Loss.__name__, torch._utils.__name__]
from tracegrad.shim.finder import is_shown
from tracegrad.shim.paths import table
failed = {}
for path in filter(is_shown, table()):
    try:
        importlib.import_module("tracegrad" + path.removeprefix("torch"))
    except ModuleNotFoundError as error:
        failed[path] = str(error)
from tracegrad.nn.modules.batchnorm import _BatchNorm
from tracegrad.special import expit
same = issubclass(torch.nn.BatchNorm2d, _BatchNorm) and expit is torch.special.expit
def said(statement):
    try:
        exec(statement)
    except (ImportError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
absent = [said(each) for each in (
    "import tracegrad.fx", "import tracegrad.unknown", "from tracegrad.nn.modules.loss import Unknown",
    "torch.nn.modules.unknown", "torch.nn.modules.loss.Unknown", "torch.flor")]
print(json.dumps([reached, failed, same, absent, any(name.partition(".")[0] == "torch" for name in sys.modules)]))
"""

#: Modules of this package that are no packages, below which nothing can be imported.
FLAT = ("_C", "accelerator", "backends.cudnn", "cpu.amp", "nn.attention", "profiler", "signal.windows", "sparse")


def test_paths_of_pytorch_are_imported_below_the_packages_own_name():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reached, failed, same, absent, is_torch_imported = json.loads(done.stdout)
    assert reached == ["RemovableHandle", "Loss", "tracegrad._utils"]
    of_packages = {path for path, text in failed.items() if "tracegrad" not in text}  # of tensorboard, which is absent
    below_files = {
        path for path in failed if path.removeprefix("torch.").startswith(tuple(f"{each}." for each in FLAT))
    }
    assert set(failed) == of_packages | below_files and len(below_files) <= 12
    assert same and not is_torch_imported
    assert absent[:2] == [f"ModuleNotFoundError: No module named 'tracegrad.{name}'" for name in ("fx", "unknown")]
    assert absent[2].startswith("ImportError: cannot import name 'Unknown' from 'tracegrad.nn.modules.loss'")
    assert absent[3] == (
        "AttributeError: module 'tracegrad.nn.modules' has no attribute 'unknown': it is not in tracegrad."
    )
    assert absent[4].startswith("AttributeError: tracegrad has no torch.nn.modules.loss.Unknown")
    assert "The nearest name is 'floor'" in absent[5]


NAMES = """
import importlib, json
import tracegrad
from tracegrad.shim.face import Homes
from tracegrad.shim.finder import is_shown
from tracegrad.shim.paths import table
asked, absent = 0, []
for path in filter(is_shown, table()):
    own = "tracegrad" + path.removeprefix("torch")
    try:
        module = importlib.import_module(own)
    except ModuleNotFoundError:
        continue
    if module.__name__ == own:  # and is not shown under another name as well
        names = Homes(path, "tracegrad").names()
        asked += len(names)
        absent += [f"{own}.{name}" for name in names if not hasattr(module, name)]
from tracegrad.nn.modules import Linear
from tracegrad.nn.modules.module import Parameter
from tracegrad.utils.data.dataloader import Dataset
print(json.dumps([asked, absent, Linear is tracegrad.nn.Linear and Parameter is tracegrad.nn.Parameter]))
"""


def test_own_modules_have_the_names_that_pytorch_has_at_their_paths():
    done = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    asked, absent, same = json.loads(done.stdout)
    assert asked > 2000 and absent == [] and same
