"""``python -m tracegrad run``: a program sees what it sees under Python itself, but for torch."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]


def run(*words, cwd=None, **environment):
    command = [sys.executable, "-m", "tracegrad", *map(str, words)]
    paths = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd, env=env)


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


SEEN = """
import os, sys, __main__
print(sys.argv, __name__, __file__, os.getcwd() == os.path.realpath(os.getcwd()), __main__.__dict__ is globals())
print(os.path.realpath(sys.path[0]) , __package__, __spec__ and __spec__.name, __builtins__ is not None)
print(sorted(name for name in globals() if name.startswith("__")))
import beside
"""


def test_a_file_sees_what_it_sees_under_python(tmp_path):
    written(tmp_path, "in/beside.py", "print('beside', __name__)")
    written(tmp_path, "in/prog.py", SEEN)
    ours = run("run", "in/prog.py", "a", "--compile", "-m", cwd=tmp_path)
    theirs = subprocess.run(
        [sys.executable, "in/prog.py", "a", "--compile", "-m"], capture_output=True, text=True, cwd=tmp_path
    )
    assert ours.stdout == theirs.stdout and theirs.returncode == 0, ours.stderr


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("module", ["package.inside", "package"])
def test_a_module_sees_what_it_sees_under_python(tmp_path, module):
    written(tmp_path, "package/__init__.py", "")
    written(tmp_path, "package/inside.py", SEEN)
    written(tmp_path, "package/__main__.py", "from . import inside")
    written(tmp_path, "beside.py", "print('beside', __name__)")
    ours = run("run", "-m", module, "a", "-b", cwd=tmp_path)
    theirs = subprocess.run(
        [sys.executable, "-m", module, "a", "-b"], capture_output=True, text=True, cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )  # fmt: skip
    assert ours.stdout == theirs.stdout and theirs.returncode == 0, (ours.stderr, theirs.stderr)


ENDS = {
    "import sys; sys.exit(3)": 3,
    "raise SystemExit('said')": 1,
    "raise SystemExit": 0,
    "import os; os._exit(4)": 4,
    "import torch\ndef f(x):\n    return x @ torch.ones(3)\nf(torch.ones(2, 2))": 1,
    "def f(:": 1,
    "import torch.nn.foo": 1,
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('second') from e": 1,
    "import sys\nsys.excepthook = lambda kind, error, tb: print('mine', kind.__name__, tb.tb_lineno)\n1 / 0": 1,
}


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("text", ENDS)
def test_a_program_ends_as_it_ends_under_python(tmp_path, text):
    path = written(tmp_path, "prog.py", text)
    done = run("run", path)
    assert done.returncode == ENDS[text], done.stderr
    assert not any(f"{PACKAGE / folder}{os.sep}" in done.stderr for folder in ("commandline", "shim"))
    assert "runpy" not in done.stderr
    if "torch" not in text:
        theirs = subprocess.run([sys.executable, path], capture_output=True, text=True)
        assert (done.stdout, done.stderr, done.returncode) == (theirs.stdout, theirs.stderr, theirs.returncode)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("words", [("nothing.py",), ("-m", "nothing_here"), ("-m", "nothing.inside")], ids=" ".join)
def test_a_program_that_is_not_there_is_said_in_one_line(tmp_path, words):
    done = run("run", *words, cwd=tmp_path)
    assert done.returncode == (1 if "-m" in words else 2)  # as Python ends
    assert len(done.stderr.strip().splitlines()) == 1 and "nothing" in done.stderr


@pytest.mark.long
def test_words_that_are_no_command_are_refused():
    assert run("run", "--verify=0", "prog.py").returncode == 2
    assert run("run").returncode == 2 and run("nonsense").returncode == 2
    usage = run()
    assert "run" in usage.stdout and usage.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_it_as_python_ends(tmp_path):
    path = written(tmp_path, "prog.py", "import time\nprint('ready', flush=True)\ntime.sleep(60)")
    command = [sys.executable, "-m", "tracegrad", "run", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors and str(PACKAGE / "commandline") not in errors and "prog.py" in errors


@pytest.mark.long
def test_processes_that_it_starts_have_the_name_as_well(tmp_path):
    path = written(
        tmp_path,
        "prog.py",
        """
import multiprocessing, subprocess, sys
import torch
def work(i, queue):
    queue.put((i, torch.__version__, (torch.ones(2) * i).tolist()))
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=work, args=(i, queue)) for i in range(2)]
    for process in processes:
        process.start()
    print(sorted(queue.get() for _ in processes))
    for process in processes:
        process.join()
    line = "import torch, sys; print(torch.__version__, sys.argv)"
    print(subprocess.run([sys.executable, "-c", line, "x"], capture_output=True, text=True).stdout)
    line = "import sys; print([n for n in sys.modules if n.split('.')[0] in ('torch', 'tracegrad', 'numpy')])"
    print(subprocess.run([sys.executable, "-c", line], capture_output=True, text=True).stdout)
""",
    )
    done = run("run", path)
    version = "2.13.0+tracegrad"
    assert done.stdout.split("\n")[0] == str([(0, version, [0.0, 0.0]), (1, version, [1.0, 1.0])]), done.stderr
    assert f"{version} ['-c', 'x']" in done.stdout
    assert done.stdout.rstrip().endswith("[]")  # nothing is imported before it is asked for


@pytest.mark.long
def test_another_sitecustomize_is_run_in_child_processes(tmp_path):
    written(tmp_path, "site/sitecustomize.py", "import os; os.environ['OTHER'] = 'was run'")
    path = written(
        tmp_path, "prog.py", "import subprocess, sys\n"
        "line = 'import os, torch; print(os.environ[\"OTHER\"], torch.__version__)'\n"
        "print(subprocess.run([sys.executable, '-c', line], capture_output=True, text=True))"
    )  # fmt: skip
    paths = os.pathsep.join(
        [
            str(tmp_path / "site"),
            *map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))),
        ]
    )
    assert "was run 2.13.0+tracegrad" in run("run", path, PYTHONPATH=paths).stdout


def test_a_notebook(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# title"]},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "!pip install torch\n", "import torch\n", "x = torch.ones(2)"],
        },
        {"cell_type": "code", "source": "%%bash\nrm -rf nothing"},
        {"cell_type": "code", "source": "%%time\nprint(x.sum())\nx?"},
        {"cell_type": "code", "source": "display(x)\nif True:\n    %time print(1)\n\n1 / 0"},
    ]
    path = written(tmp_path, "note.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    done = run("run", path)
    assert done.returncode == 1 and done.stdout == "tensor(2.)\ntensor([1., 1.])\n"
    assert "note.ipynb[4]" in done.stderr and "line 5" in done.stderr and "1 / 0" in done.stderr


TRAINING = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(16, 4)
for i in range(40):
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
"""


@pytest.mark.long
@pytest.mark.slow
def test_compiled_and_verified_programs_print_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    path = written(tmp_path, "prog.py", TRAINING)
    eager, compiled, verified = run("run", path), run("run", "--compile", path), run("run", "--verify=2", path)
    assert eager.stdout and eager.stdout == compiled.stdout == verified.stdout
    assert "compared with numpy" in verified.stderr and " in 40 steps " in verified.stderr
    assert not verified.stderr.startswith("tracegrad: 0 runs")


def test_verify_without_a_number_takes_the_program_as_the_program(tmp_path):
    done = run("run", "--verify", written(tmp_path, "prog.py", "import sys; print(sys.argv[1:])"), "--verify", "3")
    assert done.stdout == "['--verify', '3']\n", done.stderr


THIRD_PARTY = """
import tempfile
import numpy as np
import torch
from einops import rearrange, reduce
from einops.layers.torch import Rearrange
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_score
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm


class Net(BaseEstimator, ClassifierMixin):
    def fit(self, X, y):
        torch.manual_seed(0)
        self.classes_ = np.unique(y)
        self.model = torch.nn.Linear(X.shape[1], 2)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for _ in range(30):
            loss = torch.nn.functional.cross_entropy(self.model(torch.tensor(X, dtype=torch.float32)), torch.tensor(y))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return self

    def predict(self, X):
        with torch.no_grad():
            return self.model(torch.tensor(X, dtype=torch.float32)).argmax(1).numpy()


if __name__ == "__main__":
    x = torch.arange(24.0).reshape(2, 3, 4)
    print(list(rearrange(x, "a b c -> (a b) c").shape), reduce(x, "a b c -> a", "mean").tolist())
    print(list(Rearrange("a b c -> a (b c)")(x).shape), sum(len(batch) for batch in tqdm(DataLoader(x), disable=True)))
    writer = SummaryWriter(tempfile.mkdtemp())
    writer.add_scalar("loss", torch.tensor(1.0), 1)
    writer.close()
    random = np.random.RandomState(0)
    X = random.randn(80, 3)
    print(cross_val_score(Net(), X, (X[:, 0] + X[:, 1] > 0).astype(int), cv=3, n_jobs=2).round(6).tolist())
"""


@pytest.mark.long
@pytest.mark.slow
def test_packages_that_ask_for_torch(tmp_path):
    for package in ("einops", "sklearn", "tensorboard", "tqdm"):
        pytest.importorskip(package)
    done = run("run", written(tmp_path, "prog.py", THIRD_PARTY))
    assert done.stdout.splitlines() == [
        "[6, 4] [5.5, 17.5]",
        "[2, 12] 2",
        "[0.962963, 0.851852, 0.884615]",
    ], done.stderr
