"""Masks in all forms in which an index has them: what is read and written is the same, whatever the form."""

import itertools

import numpy as np
import pytest

SHAPES = [(), (0,), (3,), (0, 2), (2, 0), (2, 3), (2, 3, 2), (2, 0, 3)]


def outcome(function):
    try:
        return function().tolist()
    except (IndexError, RuntimeError) as error:
        return type(error)


@pytest.mark.parametrize("kind", [bool, np.uint8])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_array_of_truths_is_a_mask_as_a_tensor_of_them_is(tg, shape, kind):
    x = tg.arange(np.prod(shape, dtype=int)).view(shape) + 1.0
    for extents in SHAPES[1:]:
        mask = np.arange(np.prod(extents)).reshape(extents) % 3 != 1
        given = mask.astype(kind)
        for before in ((), (None,), (...,), (..., None))[: 4 if len(extents) == 1 else 2]:
            for behind in ((), (...,))[: 1 if ... in before else 2]:
                array, tensor = (*before, given, *behind), (*before, tg.from_numpy(mask), *behind)
                assert outcome(lambda: x[array]) == outcome(lambda: x[tensor])  # noqa: B023
    for extents in SHAPES[1:]:
        mask = np.arange(np.prod(extents)).reshape(extents) % 3 != 1
        told = []
        for key in (mask.astype(kind), tg.from_numpy(mask)):
            target = x.clone()
            told.append((outcome(lambda: write(target, key, tg.ones(2))), target.tolist()))  # noqa: B023
        assert told[0] == told[1]


def write(target, key, value):
    target[key] = value
    return target


#: Forms of the mask of the rows 0 and 2 of three.
FORMS = [
    "tg.tensor([True, False, True])",
    "[True, False, True]",
    "np.array([True, False, True])",
    "([True, False, True], ...)",
    "(tg.tensor([True, False, True]), slice(None))",
    "(None, [True, False, True])",
    "(..., tg.tensor([True, False, True]))",
    "([np.True_, np.False_, np.True_],)",
]
SINGLE = ["tg.tensor(7.5, dtype=tg.float64)", "tg.tensor([7])", "tg.tensor([[True]])", "tg.tensor(2.0)"]


@pytest.mark.parametrize(("form", "value"), itertools.product(FORMS, SINGLE))
def test_a_single_value_is_converted_at_a_mask(tg, form, value):
    key, value = eval(form, {"tg": tg, "np": np}), eval(value, {"tg": tg})
    for dtype in (tg.uint8, tg.int64, tg.float32):
        square, row = tg.zeros(3, 3, dtype=dtype), tg.zeros(1, dtype=dtype).expand(3, 3)
        square[key] = value
        wanted = value.to(dtype).item()
        at = np.zeros((3, 3))
        at[..., [0, 2]] = wanted
        assert square.tolist() == (at if form.startswith("(...") else at.T).tolist()
        row[key] = value  # whose one element is shown everywhere
        assert row.tolist() == [[wanted] * 3] * 3


def test_a_truth_picks_from_a_new_axis_where_types_must_match(tg):
    for truth, kind in itertools.product((True, False), (tg.bool, tg.uint8)):
        for target in (tg.zeros(()), tg.zeros(2)):
            mask = tg.tensor(truth).to(kind)
            for other in (tg.tensor([2.5], dtype=tg.float64), tg.tensor(2), tg.tensor([True])):
                with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match"):
                    target[mask] = other
            assert not target.any()
            target[mask] = 7.5
            assert bool((target == 7.5 * truth).all())
            target[mask] = tg.ones(1)
            assert bool((target == truth).all())


def test_bytes_that_are_filled_in(tg):
    """PyTorch looks up what bytes name, and writes as many values there, but fills in no single one."""
    mask, x = tg.tensor([1, 0, 1], dtype=tg.uint8), tg.zeros(3)
    x[mask] = tg.ones(2)
    assert x.tolist() == [1.0, 0.0, 1.0]
    for key, value in itertools.product((mask, (mask, ...), (..., mask)), (7, tg.ones(1), tg.tensor(1))):
        with pytest.raises(RuntimeError, match="masked_fill_ only supports boolean masks"):
            x[key] = value
