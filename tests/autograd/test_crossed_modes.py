"""Modes that are entered and left in any order hold after each step what they hold in PyTorch."""

import json

import pytest
from expected import modes
from expected.compare import STORE

EXPECTED = json.loads((STORE / "modes.json").read_text(encoding="utf-8"))
#: After the last step, and after the end, what holds in the beginning: a compiled function may leave no other modes.
START = "5"


def expected(kind):
    """Programs and what they give."""
    programs, width = modes.programs(kind), modes.STEPS + 1
    assert len(EXPECTED[kind]) == len(programs) * width
    return [(program, EXPECTED[kind][i * width : (i + 1) * width]) for i, program in enumerate(programs)]


@pytest.mark.parametrize("kind", modes.KINDS)
def test_any_order(tg, kind):
    w = tg.ones(1, requires_grad=True)
    for program, digits in expected(kind):
        assert modes.digits_from_the_start(tg, program, w) == digits, program


@pytest.mark.parametrize("kind", modes.KINDS)
def test_any_order_in_a_compiled_function(tg, kind):
    """What is recorded, and repeated, requires a gradient where it does eagerly."""

    def tracked(w, program):
        objects, found = [], []
        for step in program:
            modes.take(tg, step, objects)
            found.append(w * 2)
        while objects:
            del objects[0]
        return found

    whole = [(program, digits) for program, digits in expected(kind) if digits[-1] == START]
    w = tg.ones(1, requires_grad=True)
    for program, digits in whole[:: len(whole) // 7]:
        compiled = tg.compile(tracked)
        for _ in range(3):
            found = [y.requires_grad for y in compiled(w, program)]
            assert found == [bool(int(digit, 16) & 4) for digit in digits[:-1]], program
        assert compiled.way == "replay", program


@pytest.mark.parametrize("kind", ["no_grad", "inference_mode(True)"])
def test_a_compiled_function_is_called_in_all_modes(tg, kind):
    """One function, called after each step: its results require gradients where those of the eager one do."""
    w = tg.ones(1, requires_grad=True)
    compiled = tg.compile(lambda w: w * 2)
    for program, digits in expected(kind)[::29]:
        objects = []
        with tg.inference_mode(False):
            for step, digit in zip(program, digits, strict=False):
                modes.take(tg, step, objects)
                assert compiled(w).requires_grad is bool(int(digit, 16) & 4), program
            while objects:
                del objects[0]
