"""``Variable``: every tensor is one, and making one makes a tensor of the same memory without history."""

import pytest

import tracegrad as tg
from tracegrad.autograd import Variable


def test_every_tensor_is_an_instance():
    tensors = [tg.ones(1), tg.arange(2), tg.nn.Parameter(tg.ones(1)), tg.ones(1, requires_grad=True) * 2]
    assert all(isinstance(x, Variable) for x in tensors)
    assert not isinstance(3, Variable) and not isinstance([tg.ones(1)], Variable)
    assert not issubclass(tg.Tensor, Variable) and type(Variable(tg.ones(1))) is tg.Tensor


def test_it_shows_the_same_memory_without_history():
    x = tg.ones(2, requires_grad=True)
    v = Variable(x * 2)
    assert v.grad_fn is None and not v.requires_grad
    y = tg.ones(2)
    v = Variable(y, requires_grad=True)
    assert v is not y and v.requires_grad and not y.requires_grad
    Variable(y).add_(1)
    assert y.tolist() == [2.0, 2.0] and y._version == v._version == 1
    assert Variable(tg.nn.Parameter(tg.ones(1))).requires_grad is False
    assert Variable().shape == Variable(None).shape == (0,)


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        Variable(3)
    with pytest.raises(RuntimeError, match="(?i)only tensors of floating point"):
        Variable(tg.arange(2), requires_grad=True)
    with pytest.raises(ValueError, match="can't be volatile and require_grad"):
        Variable(tg.ones(1), True, True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(tg.ones(1), volatile=True)


def test_within_a_step():
    model, loss_fn = tg.nn.Linear(3, 1), tg.nn.MSELoss()
    twin = tg.nn.Linear(3, 1)
    twin.load_state_dict(model.state_dict())

    def step(model, x):
        v = x if not isinstance(x, Variable) else Variable(x, requires_grad=True)
        model.zero_grad()
        loss = loss_fn(model(v), Variable(tg.ones(len(x), 1)))
        loss.backward()
        return loss, v.grad

    compiled = tg.compile(step)
    for i in range(6):
        x = tg.full((2, 3), float(i))
        loss, grad = compiled(model, x)
        expected, expected_grad = step(twin, x)
        tg.testing.assert_close(loss, expected)
        tg.testing.assert_close(grad, expected_grad)
        with tg.deferred():
            tg.testing.assert_close(step(twin, x)[1], expected_grad)
