"""Promotion of all pairs of dtypes (stored, see expected/result_types.py), and conversions."""

import json
import warnings

import pytest
from expected.compare import STORE
from expected.result_types import conversions, promoted_types, result_types

TABLE = json.loads((STORE / "result_types.json").read_text(encoding="utf-8"))


def differences(found, expected):
    """Where complex32 is expected, which is not there, complex64 has to come."""
    return {
        (a, b): (value, expected[a][b])
        for a, row in found.items()
        for b, value in row.items()
        if value != expected[a][b].replace("complex32", "complex64")
    }


def test_all_pairs_are_stored():
    assert len(TABLE["promoted"]) == 12 and sum(map(len, TABLE["promoted"].values())) == 144
    assert sum(map(len, TABLE["result"].values())) == 28 * 28 - 16


def test_result_types(tg):
    assert differences(result_types(tg), TABLE["result"]) == {}


def test_promote_types(tg):
    assert differences(promoted_types(tg), TABLE["promoted"]) == {}


def test_conversions(tg):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert conversions(tg) == TABLE["conversions"]


def test_numbers_that_do_not_fit(tg):
    for name in ("uint8", "int8"):
        with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name}_t without overflow"):
            tg.full((2,), 300, dtype=getattr(tg, name))
        with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
            tg.tensor([300], dtype=getattr(tg, name))
    assert tg.tensor([-1], dtype=tg.uint8).item() == 255
    assert tg.tensor([1e6], dtype=tg.float16).item() == float("inf")
    with pytest.raises(TypeError, match="'complex' object cannot be interpreted as an integer"):
        tg.tensor([1j], dtype=tg.int64)
    with pytest.raises(TypeError, match="must be real number, not complex"):
        tg.tensor([1j], dtype=tg.float32)
