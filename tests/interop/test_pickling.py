"""Everything public is stored by cloudpickle, and found again by its name: functions of other processes refer to it."""

import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys
import types

import pytest

cloudpickle = pytest.importorskip("cloudpickle")

PUBLIC = (
    "", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "optim", "optim.lr_scheduler", "utils.data",
    "autograd", "autograd.functional", "distributions", "func", "linalg", "fft", "special", "sparse", "utils", "cuda",
    "random",
)  # fmt: skip


@pytest.mark.parametrize("path", PUBLIC)
def test_public_names(tg, path):
    module = functools.reduce(getattr, filter(None, path.split(".")), tg)
    wrong = []
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        loaded = pickle.loads(cloudpickle.dumps(value))
        is_one = isinstance(value, (type, types.FunctionType, types.ModuleType))
        if is_one and loaded is not value:
            wrong.append(name)
        if isinstance(value, types.FunctionType) and pickle.loads(pickle.dumps(value)) is not value:
            wrong.append(name)
    assert wrong == []
    assert pickle.loads(cloudpickle.dumps(module)) is module


def test_methods(tg):
    methods = {n: m for n, m in vars(tg.Tensor).items() if isinstance(m, types.FunctionType) and n[:1] != "_"}
    assert len(methods) > 400
    assert [n for n, m in methods.items() if pickle.loads(cloudpickle.dumps(m)) is not m] == []


def relu_and_one(x):
    return tg_module().relu(x) + 1


def tg_module():
    return sys.modules["tracegrad"]


def objects(tg):
    net = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.BatchNorm1d(2), tg.nn.Dropout(), tg.nn.LSTM(2, 2))[:3]
    optimizer = tg.optim.Adam(net.parameters())
    net(tg.ones(4, 2)).sum().backward()
    optimizer.step()
    compiled = tg.compile(relu_and_one)
    compiled(tg.ones(2))
    rows = tg.utils.data.TensorDataset(tg.ones(4, 2))
    return {
        "module": net,
        "optimizer": optimizer,
        "scheduler": tg.optim.lr_scheduler.StepLR(optimizer, 1),
        "compiled": compiled,
        "compiled module": tg.compile(net),
        "generator": tg.Generator(),
        "dtype": tg.float32,
        "tensor": tg.ones(2),
        "view": tg.ones(4)[1:],
        "leaf": tg.ones(2, requires_grad=True),
        "parameter": tg.nn.Parameter(tg.ones(2)),
        "size": tg.ones(2).shape,
        "device": tg.device("cpu"),
        "rows": rows,
        "loader": tg.utils.data.DataLoader(rows, 2),
        "distribution": tg.distributions.Normal(0.0, 1.0),
        "state": net.state_dict(),
        "state of the optimizer": optimizer.state_dict(),
        "parameters": net[0]._parameters,
        "groups": optimizer.param_groups,
        "states": optimizer.state,
        "method": net.forward,
        "method of a tensor": tg.ones(2).sum,
        "partial": functools.partial(tg.sum, dim=0),
        "sparse": tg.eye(2).to_sparse(),
        "packed": tg.nn.utils.rnn.pack_sequence([tg.ones(2)]),
        "context": tg.no_grad(),
        "layout": tg.strided,
    }


def test_objects(tg):
    for name, value in objects(tg).items():
        for copied in (
            pickle.loads(cloudpickle.dumps(value)),
            pickle.loads(pickle.dumps(value)),
            copy.deepcopy(value),
        ):
            assert type(copied) is type(value), name


PROGRAM = """
import pickle, sys
function, x = pickle.load(open(sys.argv[1], "rb"))
print(function(x).tolist())
"""


def test_functions_of_a_program_run_in_another_process(tg, tmp_path):
    model = tg.nn.Linear(2, 1)

    def predict(x):
        with tg.no_grad():
            return tg.nn.functional.relu(model(x)) + tg.ones(1)

    stored = tmp_path / "function.pkl"
    stored.write_bytes(cloudpickle.dumps((predict, tg.ones(3, 2))))
    out = subprocess.run([sys.executable, "-c", PROGRAM, str(stored)], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == str(predict(tg.ones(3, 2)).tolist()), out.stderr


def total(x):
    return float((x * 2).sum())


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(tg, method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(total, [tg.ones(2), tg.ones(3)]) == [4.0, 6.0]


@pytest.fixture
def joblib():
    """The package; its processes, and the threads that serve them, end with the test."""
    yield pytest.importorskip("joblib")
    sys.modules["joblib.externals.loky"].get_reusable_executor().shutdown(wait=True, kill_workers=True)


@pytest.mark.long
def test_joblib(tg, joblib):
    model = tg.nn.Linear(2, 1)
    expected = [model(tg.full((1, 2), float(k))).item() for k in range(3)]
    found = joblib.Parallel(n_jobs=2)(
        joblib.delayed(lambda k: model(tg.full((1, 2), float(k))).item())(k) for k in range(3)
    )
    assert found == pytest.approx(expected, rel=1e-6)
