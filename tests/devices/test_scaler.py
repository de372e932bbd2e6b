"""GradScaler on the CPU: it scales, unscales, leaves out steps and adapts as PyTorch's does."""

import math
import pickle

import pytest

import tracegrad as tg


def made(**options):
    w = tg.nn.Parameter(tg.ones(2))
    return w, tg.optim.SGD([w], lr=0.5), tg.amp.GradScaler("cpu", **options)


def test_a_step():
    w, optimizer, scaler = made(init_scale=8.0)
    loss = (w * tg.tensor([1.0, 2.0])).sum()
    assert scaler.scale(loss).item() == 24.0
    scaler.scale(loss).backward()
    assert w.grad.tolist() == [8.0, 16.0]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1.0, 2.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.0] and scaler.get_scale() == 8.0


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_step_with_what_is_not_finite_is_left_out(bad):
    w, optimizer, scaler = made(init_scale=8.0)
    for factor, scale, values in ((bad, 4.0, [1.0, 1.0]), (1.0, 4.0, [0.5, 0.5])):
        optimizer.zero_grad()
        scaler.scale((w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale and w.tolist() == values


def test_it_grows_and_does_not_become_infinite():
    w, optimizer, scaler = made(init_scale=2.0, growth_interval=2, growth_factor=3.0)
    found = []
    for _ in range(5):
        optimizer.zero_grad()
        scaler.scale(w.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        found.append((scaler.get_scale(), scaler._get_growth_tracker()))
    assert found == [(2.0, 1), (6.0, 0), (6.0, 1), (18.0, 0), (18.0, 1)]
    scaler.update(2.0**100)
    assert scaler.get_scale() == 2.0**100


def test_what_is_called_twice_is_an_error():
    w, optimizer, scaler = made()
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step\\(\\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="being called after step"):
        scaler.unscale_(optimizer)
    half = tg.nn.Parameter(tg.ones(1, dtype=tg.float16))
    half.grad = tg.ones(1, dtype=tg.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(tg.optim.SGD([half], lr=0.1))


def test_two_optimizers_and_lists_of_outputs():
    a, first, scaler = made(init_scale=4.0)
    b, second, _ = made()
    for loss in scaler.scale([a.sum(), b.sum() * math.inf]):
        loss.backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert a.tolist() == [0.5, 0.5] and b.tolist() == [1.0, 1.0] and scaler.get_scale() == 2.0


def test_state():
    w, optimizer, scaler = made(init_scale=4.0, growth_interval=2)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1,
    }  # fmt: skip
    other = tg.amp.GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state and pickle.loads(pickle.dumps(scaler)).state_dict() == state


def test_without_a_device_it_does_nothing():
    w, optimizer, _ = made()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = tg.amp.GradScaler()
    loss = w.sum()
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and not scaler.is_enabled()
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5]
