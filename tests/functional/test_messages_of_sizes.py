"""What is said of a value whose sizes do not fit where it is written, or expanded to: PyTorch's words."""

from itertools import product

import pytest

import tracegrad as tg

SIZES = [(), (1,), (2,), (3,), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2, 3), (0,), (2, 0)]


def said(function):
    try:
        function()
    except RuntimeError as error:
        return str(error)
    return None


def expected_of_assignment(target, value):
    """PyTorch's: axes of extent 1 in front are left out; then the last axis that does not fit is told."""
    sizes = list(value)
    while sizes and sizes[0] == 1:
        del sizes[0]
    if len(sizes) > len(target):
        return (
            f"expand(torch.FloatTensor{{{sizes}}}, size={list(target)}): the number of sizes provided ({len(target)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({len(sizes)})"
        )
    return expected_of_expansion(sizes, target)


def expected_of_expansion(sizes, target):
    for back in range(1, len(sizes) + 1):
        if sizes[-back] not in (1, target[-back]):
            return (
                f"The expanded size of the tensor ({target[-back]}) must match the existing size ({sizes[-back]}) at "
                f"non-singleton dimension {len(target) - back}.  Target sizes: {list(target)}.  "
                f"Tensor sizes: {list(sizes)}"
            )
    return None


def assign(x, key, value):
    x[key] = value


@pytest.mark.parametrize("of_number", [False, True])
@pytest.mark.parametrize("with_history", [False, True])
def test_assignments(with_history, of_number):
    for target, value in product(SIZES, SIZES):
        x, key = (tg.zeros(2, *target), 1) if of_number else (tg.zeros(target), ...)
        x = x.requires_grad_().clone() if with_history else x
        assert said(lambda x=x, key=key, value=value: assign(x, key, tg.ones(value))) == expected_of_assignment(
            target, value
        ), (target, value)


def test_assignments_to_picked_places():
    message = "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2, 2]"
    assert said(lambda: assign(tg.zeros(2, 2), [0, 1], tg.ones(1, 3))) == message


@pytest.mark.parametrize("method", ["expand", "broadcast_to"])
def test_expansions(method):
    for sizes, target in product(SIZES, SIZES):
        if len(sizes) <= len(target):
            message = said(lambda sizes=sizes, target=target: getattr(tg.zeros(sizes), method)(target))
            assert message == expected_of_expansion(sizes, target), (sizes, target)


def test_copies_name_the_target_first():
    assert said(lambda: tg.zeros(3).copy_(tg.zeros(2))) == (
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0"
    )
