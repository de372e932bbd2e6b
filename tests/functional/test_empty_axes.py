"""Functions along an axis of no, one or two elements: compiled as in eager mode, shapes, numbers and refusals."""

import warnings

import numpy as np
import pytest

import tracegrad as tg

NAMES = (
    "cumulative_trapezoid trapezoid diff gradient cumsum cumprod logcumsumexp cummax cummin softmax log_softmax sum "
    "mean prod amax amin argmax logsumexp std var norm sort argsort flip roll unbind nansum all any count_nonzero "
    "median mode"
)


def outcome(name, compile, shape, dim):
    function = getattr(tg, name, None) or getattr(tg.nn.functional, name)
    arguments = {"shifts": 1, "dims": dim} if name == "roll" else {"dims": (dim,)} if name == "flip" else {"dim": dim}

    def step(x):
        found = function(x * 2, **arguments)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    step, seen = compile(step), []
    x = tg.arange(6.0)[: shape[0] * shape[1]].view(shape).requires_grad_()
    for _ in range(3):
        try:
            found = step(x)
        except (RuntimeError, IndexError, ValueError) as error:
            seen.append(type(error))
            continue
        seen.append([(tuple(t.shape), t.dtype, t.requires_grad, numbers(t)) for t in found])
    return seen


def numbers(tensor):
    """As text, in which NaN is NaN, to four digits: programs and numpy round exponentials and sums otherwise."""
    return str((np.round(tensor.detach().double().numpy(), 4) + 0.0).tolist())


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("name", NAMES.split())
def test_compiled_as_in_eager_mode(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in ((0, 3), (3, 0), (1, 3), (2, 3), (0, 0)):
            for dim in (0, 1, -1):
                assert outcome(name, tg.compile, shape, dim) == outcome(name, lambda f: f, shape, dim), (shape, dim)
