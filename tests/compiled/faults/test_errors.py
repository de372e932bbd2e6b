"""Errors in the middle: the eager error and state, and the next call works. Compilers and folders that fail."""

import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from side_by_side import noted, ramp


def embedding_step(tg):
    """A step that fails for an index out of range, after the gradients were zeroed and before the update."""
    table = ramp(tg, 5, 2).requires_grad_()
    optimizer = tg.optim.SGD([table], lr=0.1)

    def step(index):
        optimizer.zero_grad()
        loss = table[index].pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step, table


def test_index_out_of_range(tg):
    notes = []
    for compiled in (False, True):
        step, table = embedding_step(tg)
        step = tg.compile(step) if compiled else step
        notes.append([])
        for last in (1, 2, 7, 3, -6, 4):
            try:
                result = noted(step(tg.tensor([0, last])))
            except IndexError as error:
                result = str(error)
            notes[-1].append((result, noted(table)))
    for (one, one_state), (other, other_state) in zip(*notes, strict=True):
        assert type(one) is type(other) and (not isinstance(one, str) or one == other)
        np.testing.assert_allclose(one_state.numbers, other_state.numbers, rtol=1e-5)
        assert (one_state.grad is None) == (other_state.grad is None)


def test_wrong_shape_then_right(tg):
    model = tg.nn.Linear(3, 2)
    step = tg.compile(lambda x: model(x).sum())
    good = [step(ramp(tg, 4, 3)) for _ in range(2)]
    with pytest.raises(RuntimeError):
        step(ramp(tg, 4, 5))
    assert step(ramp(tg, 4, 3)).item() == pytest.approx(good[0].item(), rel=1e-6)
    assert len(step.specialisations) == 1


def test_exception_of_the_function(tg):
    w = ramp(tg, 3)
    limit = [10]

    class Own(Exception):
        pass

    def step(x):
        w.add_(x)
        if limit[0] < 5:
            raise Own("stop")
        return w.sum()

    compiled = tg.compile(step)
    for i in range(6):
        limit[0] = 1 if i == 3 else 10
        before = w.clone()
        if i == 3:
            with pytest.raises(Own, match="stop"):
                compiled(ramp(tg, 3))
        else:
            compiled(ramp(tg, 3))
        np.testing.assert_allclose(w.numpy(), (before + ramp(tg, 3)).numpy(), rtol=1e-6)


def test_interrupted_in_c(tg, monkeypatch):
    step, table = embedding_step(tg)
    step = tg.compile(step)
    for _ in range(3):
        step(tg.tensor([0, 1]))
    binding = step.specialisations[0].binding
    kept = table.grad
    before = noted(table)

    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(binding, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            step(tg.tensor([0, 2]))
    after = noted(table)
    assert table.grad is kept
    np.testing.assert_array_equal(before.numbers, after.numbers)
    np.testing.assert_array_equal(before.grad.numbers, after.grad.numbers)
    step(tg.tensor([0, 2]))


def run_python(code, **environment):
    """Run `code` in another process; its output and errors."""
    env = {k: v for k, v in os.environ.items() if k not in ("CC", "TRACEGRAD_DUMP")} | environment
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


STEP = """
import tracegrad as tg
w = tg.ones(2)
step = tg.compile(lambda x: w.add_(x))
try:
    for i in range(3):
        step(tg.ones(2))
except Exception as error:
    print(type(error).__name__, error)
print("w is", w.tolist())
"""


def test_without_a_compiler(tmp_path):
    out = run_python(STEP, PATH=str(tmp_path), TRACEGRAD_CACHE_DIR=str(tmp_path / "cache"))
    assert "w is [4.0, 4.0]" in out
    warned = [line for line in out.splitlines() if "RuntimeWarning" in line]
    assert len(warned) == 1 and "runs eagerly: no C compiler was found" in warned[0], out


def test_failing_compiler(tmp_path):
    fake = tmp_path / "cc"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *-dM*) echo "#define __VERSION__ \\"1\\"";; *) echo broken >&2; exit 3;; esac\n'
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    out = run_python(STEP, CC=str(fake), TRACEGRAD_CACHE_DIR=str(tmp_path / "cache"))
    for words in ("runs eagerly", "exit status 3", "broken", "command:", "w is [4.0, 4.0]"):
        assert words in out, out
    assert out.count("RuntimeWarning") == 1


@pytest.mark.parametrize("variable", ["TRACEGRAD_CACHE_DIR", "TRACEGRAD_DUMP"])
def test_folder_that_cannot_be_written(tmp_path, variable):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    out = run_python(STEP, **{"TRACEGRAD_CACHE_DIR": str(tmp_path / "cache"), variable: str(blocked / "inside")})
    for words in (str(blocked), variable, "w is [4.0, 4.0]"):
        assert words in out, out
    assert out.count("RuntimeWarning") == 1


def test_cache_and_dump(tmp_path):
    code = STEP + "print(step.from_cache)"
    folders = {"TRACEGRAD_CACHE_DIR": str(tmp_path / "cache"), "TRACEGRAD_DUMP": str(tmp_path / "dump")}
    assert run_python(code, **folders).split()[-1] == "False"
    assert run_python(code, **folders).split()[-1] == "True"
    suffixes = {path.suffix for path in (tmp_path / "dump").iterdir()}
    assert suffixes == {".graph", ".schedule", ".c"}


@pytest.mark.parametrize("level", ["graph", "schedule", "source", "source_path", "from_cache"])
def test_looking_inside_too_early(tg, level):
    step = tg.compile(lambda x: x * 2)
    with pytest.raises(tg.compiler.errors.CompilerError, match="has not been compiled yet"):
        getattr(step, level)
    step(tg.ones(2))
    assert getattr(step, level) is not None


def test_threads(tg):
    w = ramp(tg, 64)
    step = tg.compile(lambda x: (w * x).exp().sum(0))
    step(ramp(tg, 1, 64))
    wrong = []

    def work(seed):
        for i in range(50):
            x = ramp(tg, 1 + i % 3, 64) * (seed + 1) * 0.01
            if not np.allclose(step(x).numpy(), np.exp(w.numpy() * x.numpy()).sum(0), rtol=1e-5):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_bad_index_in_a_usual_call_is_the_eager_error(tg):
    model = tg.nn.Linear(4, 2)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = tg.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    compiled = tg.compile(step)
    x, y, bad = tg.randn(3, 4), tg.tensor([0, 1, 0]), tg.tensor([0, 5, 0])
    for _ in range(5):
        compiled(x, y)
    weight = model.weight.detach().clone()
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        compiled(x, bad)
    assert model.weight.grad is None  # as after the eager prefix: zero_grad was done
    assert tg.equal(model.weight, weight)
    compiled(x, y)
    assert len(compiled.specialisations) == 1


@pytest.mark.parametrize("kind", ["scatter", "gather", "take"])
def test_index_out_of_range_for_a_result_that_nobody_uses(tg, kind):
    """The line is dead code for a compiler; eager mode raises there all the same."""
    uses = {
        "scatter": lambda x, i: x.scatter(0, i, 0.25),
        "gather": lambda x, i: x.gather(0, i),
        "take": lambda x, i: tg.zeros_like(x[i]),
    }

    def step(x, i):
        uses[kind](x, i)
        return x * 2

    compiled = tg.compile(step)
    for i in (0, 1, 4, 2, 4):
        notes = []
        for function in (step, compiled):
            try:
                notes.append(noted(function(ramp(tg, 3), tg.tensor([i]))).numbers.tolist())
            except (IndexError, RuntimeError) as error:
                notes.append((type(error), str(error)))
        assert notes[0] == notes[1]


def test_an_unused_result_at_places_that_never_change_is_left_out(tg):
    def step(x):
        x[[0, -1]]
        return x * 2

    compiled = tg.compile(step, fullgraph=True)
    for _ in range(3):
        compiled(ramp(tg, 3))
    assert compiled.way == "replay"
