"""repr of tensors, as PyTorch prints them (stored; see expected/printing.py)."""

import json

import pytest
from expected.compare import STORE
from expected.printing import EXPRESSIONS

REPRS = json.loads((STORE / "printing.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_repr(tg, expression):
    tensor = eval(expression, {"tg": tg, "nn": tg.nn})
    # A dtype prints under the name of its library, as in `dtype=torch.float64`.
    assert repr(tensor) == REPRS[expression].replace("dtype=torch.", f"dtype={tg.__name__}.")
    assert str(tensor) == repr(tensor)


def test_numbers_format_as_numbers(tg):
    assert f"{tg.tensor(0.5)}" == "0.5" and f"{tg.tensor([0.5])}" == "tensor([0.5000])"
    assert f"loss {tg.tensor(0.123456):.3f}" == "loss 0.123"


def test_set_printoptions(tg):
    try:
        tg.set_printoptions(precision=2)
        assert repr(tg.tensor([0.123456])) == "tensor([0.12])"
        tg.set_printoptions(sci_mode=True)
        assert repr(tg.tensor([0.5])) == "tensor([5.00e-01])"
    finally:
        tg.set_printoptions(profile="default", sci_mode=None)
    assert repr(tg.tensor([0.123456])) == "tensor([0.1235])"


def test_dtypes_print(tg):
    assert [str(dtype) for dtype in (tg.float32, tg.int64, tg.bool)] == [
        f"{tg.__name__}.{n}" for n in ("float32", "int64", "bool")
    ]
    assert tg.float is tg.float32 and tg.long is tg.int64 and tg.int is tg.int32 and tg.double is tg.float64
