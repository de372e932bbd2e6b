"""Objects that are there until Python ends, when the modules have lost their names: nothing is said about them."""

import ast
import builtins
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracegrad as tg

KEPT = {
    "a mode of autograd": "tg.no_grad()",
    "a mode of inference": "tg.inference_mode()",
    "a decorated function": "tg.no_grad()(lambda x: x)",
    "a mode that is on": "entered(tg.no_grad())",
    "autocast that is on": "entered(tg.autocast('cpu'))",
    "hooks of what is saved that are on": "entered(tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x))",
    "a block that is open": "entered(tg.utils.checkpoint.set_checkpoint_early_stop(False))",
    "shared memory": "tg.ones(3).share_memory_()",
    "an iterator of workers": "iter(tg.utils.data.DataLoader([1, 2], num_workers=1))",
    "a program": "called(tg.compile(tg.nn.Linear(3, 2)))",
    "a program of deferred calls": "called(tg.deferred(tiered=False)(tg.nn.Linear(3, 2)))",
}
PROGRAM = """
import builtins
import sys
import tracegrad as tg

class Kept:
    def __init__(self, what):
        self.what = what
        self.modules = [vars(module) for name, module in sys.modules.items() if name.startswith("tracegrad")]

    def __del__(self):
        for names in self.modules:
            names.update((name, None) for name in list(names) if name != "__builtins__")
        del self.what

def entered(mode):
    mode.__enter__()
    return mode

def called(function):
    for _ in range(3):
        function(tg.ones(4, 3))
    return function

builtins.kept = Kept({what})  # the last module that is cleared
"""
RAISED = """
import torch
function = torch.compile(torch.nn.Linear(3, 2))
for _ in range(3):
    function(torch.ones(4, 3))
raise ValueError("stop")
"""


def ran(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=100, env=os.environ)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("what", KEPT)
def test_nothing_is_said_at_the_end(what):
    """The program takes the names away itself, as Python ends: when Python does so depends on what else is there."""
    done = ran("-c", PROGRAM.format(what=KEPT[what]))
    assert done.returncode == 0 and not done.stderr


def test_what_a_traceback_keeps(tmp_path):
    """It is there until after the modules: nothing is said but the traceback."""
    program = tmp_path / "program.py"
    program.write_text(RAISED)
    done = ran("-m", "tracegrad", "run", str(program))
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[0].startswith("Traceback") and lines[-1] == "ValueError: stop"
    assert len(lines) <= 4 and str(program) in lines[1]


def finalisers():
    root = Path(tg.__file__).parent
    for folder in [root, *(path for path in root.iterdir() if path.is_dir() and path.name not in ("tests", ".venv"))]:
        for path in folder.glob("*.py") if folder is root else folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and node.name == "__del__":
                    yield f"{path.relative_to(root)}:{node.lineno}", node


def test_finalisers_use_no_names_of_modules():
    """They ask an argument of their own whether Python ends, or call nothing but their arguments."""
    found = dict(finalisers())
    assert len(found) >= 6
    for place, node in found.items():
        own = {each.arg for each in node.args.args}
        known = own | {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        called = [ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)]
        free = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)} - known - set(dir(builtins))
        calls_its_own = all(name in own or hasattr(builtins, name) for name in called)
        assert "is_ending" in called or (calls_its_own and not free), place
