"""``x[key] = value`` by numpy's own assignment is what the ops make of it: the numbers, the version, every error."""

import itertools

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.tensors import indexing

long, bools = [0, -1], [True, False, True, False]
KEYS = {
    "3": lambda: 3, "-4": lambda: -4, "4": lambda: 4, "True": lambda: True, "numpy": lambda: np.int64(1),
    "...": lambda: ..., "None": lambda: None, "()": lambda: (), "1:3": lambda: slice(1, 3), "3:1": lambda: slice(3, 1),
    "-9::2": lambda: slice(-9, None, 2), "::-1": lambda: slice(None, None, -1), ":tensor": lambda: slice(tg.tensor(2)),
    "1, 2": lambda: (1, 2), "1, 9": lambda: (1, 9), "1, 2, 0": lambda: (1, 2, 0), ":, 1": lambda: (slice(None), 1),
    "..., 1": lambda: (..., 1), "None, 1": lambda: (None, 1), "2, None, 1:": lambda: (2, None, slice(1, None)),
    "..., 1, ...": lambda: (..., 1, ...), "list": lambda: [0, 2], "truths": lambda: bools,
    "picks": lambda: tg.tensor(long), "twice": lambda: tg.tensor([1, 1, 0]), "far": lambda: tg.tensor([0, 7]),
    "int32": lambda: tg.tensor(long, dtype=tg.int32), "floats": lambda: tg.tensor([0.0]), "0-d": lambda: tg.tensor(2),
    "none": lambda: tg.tensor([], dtype=tg.int64), "mask": lambda: tg.tensor(bools), "short": lambda: tg.tensor([True]),
    "bytes": lambda: tg.tensor([1, 0, 1, 0], dtype=tg.uint8), "matrix": lambda: tg.tensor([[0, 1], [2, 3]]),
    "0-d mask": lambda: tg.tensor(True), "picks, 1": lambda: (tg.tensor(long), 1),
    "1, picks": lambda: (1, tg.tensor(long)),
    ":, picks": lambda: (slice(None), tg.tensor(long)),
    "picks, :": lambda: (tg.tensor(long), slice(1, 3)),
    "picks, picks": lambda: (tg.tensor(long), tg.tensor([1, 2])), "0-d, 0-d": lambda: (tg.tensor(1), tg.tensor(-1)),
    "picks, mask": lambda: (tg.tensor(long), tg.tensor(bools)),
    "picks, far": lambda: (tg.tensor(long), tg.tensor([9, 9])),
    "picks, three": lambda: (tg.tensor(long), tg.tensor([1, 2, 0])), "1, ..., picks": lambda: (1, ..., tg.tensor(long)),
}  # fmt: skip
VALUES = {
    "2": lambda x: 2, "-1": lambda x: -1, "2.5": lambda x: 2.5, "True": lambda x: True, "nan": lambda x: float("nan"),
    "inf": lambda x: float("inf"), "1e40": lambda x: 1e40, "300": lambda x: 300, "2**63": lambda x: 2**63,
    "2**64": lambda x: 2**64, "1j": lambda x: 1j, "float64": lambda x: np.float64(0.1),
    "float32": lambda x: np.float32(1),
    "text": lambda x: "1", "list": lambda x: [1, 2], "0-d": lambda x: tg.tensor(3, dtype=x.dtype),
    "[1]": lambda x: tg.tensor([3], dtype=x.dtype), "[2]": lambda x: tg.tensor([3, 1], dtype=x.dtype),
    "[4]": lambda x: tg.tensor([1, 0, 1, 1], dtype=x.dtype), "[1, 1, 4]": lambda x: tg.ones(1, 1, 4, dtype=x.dtype),
    "[4, 1]": lambda x: tg.ones(4, 1, dtype=x.dtype), "[0]": lambda x: tg.ones(0, dtype=x.dtype),
    "float64s": lambda x: tg.tensor([0.1, 2.0, 3.0, 4.0], dtype=tg.float64), "itself": lambda x: x,
    "a part": lambda x: x[:-1] if x.ndim else x, "reversed": lambda x: x.flip(0) if x.ndim else x, "parameter":
    lambda x: tg.nn.Parameter(tg.ones(())), "detached": lambda x: x.detach()[1:] if x.ndim else x.detach(),
}  # fmt: skip


def _of_array(dtype):
    array = np.arange(4, dtype=dtype)
    array.flags.writeable = False
    return tg.from_numpy(array)


DTYPES = (tg.int64, tg.float32, tg.bool, tg.uint8, tg.bfloat16, tg.complex64)
TARGETS = {
    **{f"{d}": lambda d=d: tg.arange(4).to(d) for d in DTYPES},
    "int8 matrix": lambda: tg.arange(12, dtype=tg.int8).view(4, 3), "0-d": lambda: tg.tensor(1.0),
    "columns": lambda: tg.arange(12.0).view(3, 4).t(), "a part": lambda: tg.arange(9.0)[1::2],
    "none": lambda: tg.ones(0, 4),
    "expanded": lambda: tg.ones(1, 3).expand(4, 3), "leaf": lambda: tg.ones(4, requires_grad=True),
    "computed": lambda: tg.ones(4, requires_grad=True) * 2, "view of a leaf": lambda: tg.ones(4, requires_grad=True)[:],
    "read-only": lambda: _of_array("f4"), "parameter": lambda: tg.nn.Parameter(tg.ones(4)),
    "conjugate": lambda: tg.ones(4, dtype=tg.complex64).conj(), "inference": lambda: _in_inference(lambda: tg.ones(4)),
}  # fmt: skip


def _in_inference(make):
    with tg.inference_mode():
        return make()


def _outcome(target, key, value, recorded):
    """What is left of a write: the error, the numbers of the whole memory, versions, histories."""
    x = target()
    try:
        given = value(x)
        with tg.set_grad_enabled(recorded):
            x[key()] = given
        error = None
    except Exception as raised:
        error = (type(raised), str(raised))
    version = "inference" if x.is_inference() else x._version
    node = x.grad_fn
    return error, x.detach().tolist().__repr__(), x.buffer.whole.tobytes(), version, node and node.name()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_numpy_writes_what_the_ops_write(target, recorded, monkeypatch):
    pairs = list(itertools.product(KEYS, VALUES))
    run = lambda: [_outcome(TARGETS[target], KEYS[k], VALUES[v], recorded) for k, v in pairs]  # noqa: E731
    at_once = run()
    monkeypatch.setattr(indexing, "write_at_once", lambda x, key, value: False)
    for (key, value), found, expected in zip(pairs, at_once, run(), strict=True):
        assert found == expected, f"x[{key}] = {value}"


def test_a_number_is_written_by_numpy_alone(monkeypatch):
    x = tg.zeros(4, 3)
    monkeypatch.setattr(indexing, "copy_to", None)
    x[2, 1] = 3
    x[:, 0] = tg.arange(4.0)
    x[tg.tensor([0, 1])] += 1
    assert x.tolist() == [[1, 1, 1], [2, 1, 1], [2, 3, 0], [3, 0, 0]]
