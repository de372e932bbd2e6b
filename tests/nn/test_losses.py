"""Losses: values and gradients (stored; see expected/losses.py)."""

import itertools

import pytest
from expected.compare import assert_close, load
from expected.losses import ARRAYS, EXPRESSIONS
from expected.programs import leaves, program, stored_case

STORED = load("losses")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_loss(tg, call, expression):
    found, expected = call(program(tg, expression, ARRAYS), lambda: leaves(tg, ARRAYS)), stored_case(STORED, expression)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name])


def test_mean_over_ignored_targets_only_is_nan(tg):
    loss = tg.nn.CrossEntropyLoss()(tg.ones(2, 3), tg.tensor([-100, -100]))
    assert loss.isnan().item()
    assert tg.nn.CrossEntropyLoss(reduction="sum")(tg.ones(2, 3), tg.tensor([-100, -100])).item() == 0.0


def test_shapes_that_broadcast_warn(tg):
    with pytest.warns(UserWarning, match="Using a target size .* that is different to the input size"):
        tg.nn.MSELoss()(tg.ones(3, 1), tg.ones(3))


def test_unknown_reduction(tg):
    with pytest.raises(ValueError, match="average is not a valid value for reduction"):
        tg.nn.functional.mse_loss(tg.ones(2), tg.ones(2), reduction="average")


def test_probabilities_outside_the_unit_interval(tg):
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        tg.nn.BCELoss()(tg.tensor([1.5]), tg.tensor([1.0]))


def test_logarithms_are_clamped_at_the_ends(tg):
    x = tg.tensor([0.0, 1.0], requires_grad=True)
    loss = tg.nn.BCELoss(reduction="none")(x, tg.tensor([1.0, 0.0]))
    assert loss.tolist() == [100.0, 100.0]


def test_float64_loss_stays_float64(tg):
    x = tg.ones(2, 3, dtype=tg.float64)
    assert (
        tg.nn.CrossEntropyLoss()(x, tg.tensor([0, 1])).dtype is tg.float64 and tg.nn.MSELoss()(x, x).dtype is tg.float64
    )


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss"])
def test_the_type_of_a_loss_of_two_types_is_the_wider_one(tg, name):
    """Also where one operand has no axes: PyTorch broadcasts them first."""
    loss = getattr(tg.nn.functional, name)
    types = tg.float16, tg.float32, tg.float64, tg.int64
    for one, other in itertools.permutations(types, 2):
        for shapes in itertools.product([(), (1,), (2,)], repeat=2):
            for options in ({}, {"reduction": "none"}, {"reduction": "sum"}):
                x, y = tg.zeros(shapes[0], dtype=one), tg.ones(shapes[1], dtype=other)
                x.requires_grad_(one is not tg.int64)
                found = loss(x, y, **options)
                assert found.dtype is tg.promote_types(one, other)
                if x.requires_grad:
                    found.sum().backward()
                    assert x.grad.dtype is one


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_smoothed_labels_without_classes(tg, reduction):
    for dtype, weight in itertools.product((tg.float16, tg.float32), (None, tg.ones(0))):
        for shape, targets in (((0, 0), (0,)), ((0, 0, 2), (0, 2)), ((0, 0), (0, 0))):
            x = tg.zeros(shape, dtype=dtype, requires_grad=True)
            y = tg.zeros(targets, dtype=dtype if shape == targets else tg.int64)
            weighted = None if weight is None else weight.to(dtype)
            loss = tg.nn.functional.cross_entropy(x, y, weighted, reduction=reduction, label_smoothing=0.1)
            assert loss.isnan().all() or shape == targets
            loss.sum().backward()
            assert x.grad.shape == shape
