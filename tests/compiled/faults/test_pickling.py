"""Compiled functions in pickles: by name where they are what their module has under that name."""

import copy
import importlib
import pickle
import subprocess
import sys
import textwrap

import pytest

import tracegrad as tg

SOURCE = """
    import multiprocessing, sys
    import tracegrad as tg

    @tg.compile
    def step(x):
        return x * 2

    class Steps:
        @staticmethod
        @tg.compile
        def static(x):
            return x + 1

        @tg.compile
        def method(self, x):
            return x - 1

    def plain(x):
        return x * 3

    renamed = tg.compile(plain, fullgraph=True)

    def work(given, number):
        out = [given(tg.ones(2) * number).tolist() for _ in range(4)]
        return out, given is step, given.way

    if __name__ == "__main__":
        for _ in range(3):
            step(tg.ones(2))
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            found = pool.starmap_async(work, [(step, i) for i in range(6)]).get(timeout=100)
        assert found == [([[2.0 * i, 2.0 * i]] * 4, True, "replay") for i in range(6)], found
        print("done")
"""


@pytest.fixture
def steps(tmp_path, monkeypatch):
    (tmp_path / "pickled_steps.py").write_text(textwrap.dedent(SOURCE))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("pickled_steps")
    del sys.modules["pickled_steps"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_by_name(steps, protocol):
    for step in (steps.step, steps.Steps.static, steps.Steps.__dict__["method"]):
        text = pickle.dumps(step, protocol)
        assert pickle.loads(text) is step and len(text) < 100


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_has_another_name_is_made_anew(steps, protocol):
    found = pickle.loads(pickle.dumps(steps.renamed, protocol))
    assert found is not steps.renamed and found.function is steps.plain and found.fullgraph
    assert found(tg.ones(1)).tolist() == [3]
    model = tg.compile(tg.nn.Linear(2, 2))
    again = pickle.loads(pickle.dumps(model, protocol))
    assert again is not model and (again.weight.ndarray == model.weight.ndarray).all()


def test_copies_are_functions_of_their_own(steps):
    for twin in (copy.copy(steps.step), copy.deepcopy(steps.step)):
        assert twin is not steps.step and twin(tg.ones(1)).tolist() == [2] and twin.specialisations
    assert not steps.step.specialisations


def test_cloudpickle(steps):
    cloudpickle = pytest.importorskip("cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(steps.step)) is steps.step
    made = cloudpickle.loads(cloudpickle.dumps(tg.compile(lambda x: x + 5)))
    assert [made(tg.ones(1)).tolist() for _ in range(3)] == [[6]] * 3


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_in_processes(steps, method, tmp_path):
    command = [sys.executable, tmp_path / "pickled_steps.py", method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout.split() == ["done"], done.stderr[-2000:]
