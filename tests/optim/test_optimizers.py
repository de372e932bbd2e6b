"""SGD, Adam and AdamW: fifty steps as PyTorch takes them (stored; see expected/optimizers.py), groups, state."""

import copy

import numpy as np
import pytest
from expected.compare import FLOAT32_RTOL, assert_close, load
from expected.optimizers import OPTIMIZERS, Problem, run_halving, two_groups

STORED = load("optimizers")
# Everything is computed in float64, where fifty steps round by some 1e-14; an eps or a correction at the wrong place
# is far above.
RTOL, ATOL = 1e-10, 1e-12
# In float32 twenty steps of two products, a loss and an update round about a thousand times by 6e-8, mostly averaging
# out, so that 1e-5 holds.
FLOAT32_STEPS = 20


def assert_stored(problem, losses, name):
    np.testing.assert_allclose(losses, STORED[f"{name}|losses"], rtol=RTOL, atol=ATOL)
    np.testing.assert_allclose(problem.parameters(), STORED[f"{name}|parameters"], rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_fifty_steps(tg, maybe_compile, kind):
    problem = Problem(tg)
    step = maybe_compile(problem.step_with(problem.optimizer(kind)))
    assert_stored(problem, problem.run(step), kind)


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("kind", ["sgd momentum", "adam", "adamw weight decay"])
def test_float32_steps_compiled_as_eager(tg, maybe_compile, kind):
    eager, other = Problem(tg, "float32"), Problem(tg, "float32")
    expected = eager.run(eager.step_with(eager.optimizer(kind)), FLOAT32_STEPS)
    step = maybe_compile(other.step_with(other.optimizer(kind)))
    np.testing.assert_allclose(other.run(step, FLOAT32_STEPS), expected, rtol=FLOAT32_RTOL)


def test_parameter_groups(tg, maybe_compile):
    problem = Problem(tg)
    optimizer = two_groups(problem)
    assert_stored(problem, problem.run(maybe_compile(problem.step_with(optimizer))), "two groups")
    assert [(group["lr"], group["momentum"], group["weight_decay"]) for group in optimizer.param_groups] == [
        (0.01, 0.9, 0.1),
        (0.05, 0.9, 0),
    ]


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("kind", ["sgd momentum", "adam"])
def test_rate_changed_on_the_way(tg, maybe_compile, kind):
    problem = Problem(tg)
    optimizer = problem.optimizer(kind)
    assert_stored(
        problem, run_halving(problem, optimizer, maybe_compile(problem.step_with(optimizer))), f"{kind} halving"
    )


@pytest.mark.parametrize("kind", ["sgd", "sgd momentum", "adam", "adam amsgrad", "adamw weight decay"])
def test_interrupted_training_continues(tg, maybe_compile, kind):
    first = Problem(tg)
    optimizer = first.optimizer(kind)
    losses = first.run(first.step_with(optimizer), 25)
    second = Problem(tg)
    second.model.load_state_dict(first.model.state_dict())
    resumed = second.optimizer(kind)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    losses = np.concatenate([losses, second.run(maybe_compile(second.step_with(resumed)), 25)])
    assert_stored(second, losses, kind)


def test_loading_state_into_a_compiled_step(tg, maybe_compile):
    problem = Problem(tg)
    optimizer = problem.optimizer("adam")
    step = maybe_compile(problem.step_with(optimizer))
    start = copy.deepcopy((problem.model.state_dict(), optimizer.state_dict()))
    first = problem.run(step)
    assert first[-1] < 0.5 * first[0]
    problem.model.load_state_dict(start[0])
    optimizer.load_state_dict(start[1])
    np.testing.assert_allclose(problem.run(step), first, rtol=RTOL)


@pytest.mark.parametrize("kind", ["sgd momentum", "adam", "adam amsgrad"])
def test_eager_and_compiled_steps_share_all_state(tg, maybe_compile, kind):
    problem = Problem(tg)
    eager = problem.step_with(problem.optimizer(kind))
    other = maybe_compile(eager)
    losses = np.concatenate([problem.run(other if turn % 2 else eager, 5) for turn in range(10)])
    assert_stored(problem, losses, kind)


def test_state_after_compiled_steps_is_the_eager_one(tg, maybe_compile):
    states = []
    for wrap in (lambda step: step, maybe_compile):
        problem = Problem(tg)
        optimizer = problem.optimizer("adam")
        problem.run(wrap(problem.step_with(optimizer)), 6)
        states.append(optimizer.state_dict()["state"])
    eager, other = states
    for index, entries in eager.items():
        for name in entries:
            assert_close(other[index][name], entries[name])


def test_layout_of_the_state(tg):
    problem = Problem(tg)
    optimizer = problem.optimizer("adam")
    assert optimizer.state_dict()["state"] == {}
    problem.run(problem.step_with(optimizer), 3)
    state = optimizer.state_dict()
    assert (
        list(state) == ["state", "param_groups"]
        and list(state["state"]) == [0, 1, 2, 3]
        and state["param_groups"][0]["params"] == [0, 1, 2, 3]
    )
    assert set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"} and float(state["state"][0]["step"]) == 3.0
    assert state["param_groups"][0]["lr"] == 0.01 and state["param_groups"][0]["betas"] == (0.9, 0.999)
    assert optimizer.state[problem.model[0].weight]["exp_avg"].shape == (5, 3)


def test_momentum_buffer_starts_as_the_first_gradient(tg):
    w = tg.nn.Parameter(tg.tensor([1.0]))
    optimizer = tg.optim.SGD([w], lr=0.1, momentum=0.9, dampening=0.5)
    (w * 3).sum().backward()
    optimizer.step()
    assert_close(optimizer.state[w]["momentum_buffer"], [3.0])
    optimizer.step()
    assert_close(optimizer.state[w]["momentum_buffer"], [0.9 * 3 + 0.5 * 3])


def test_zero_grad(tg):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.SGD([w], lr=0.1)
    w.sum().backward()
    memory = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is memory and memory.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None


def test_parameters_without_gradient_stay(tg, maybe_compile):
    used, unused = tg.nn.Parameter(tg.ones(1)), tg.nn.Parameter(tg.ones(1))
    optimizer = tg.optim.AdamW([used, unused], lr=0.1, weight_decay=0.5)

    def step(x):
        optimizer.zero_grad()
        (used * x).sum().backward()
        optimizer.step()

    step = maybe_compile(step)
    for _ in range(4):
        step(tg.ones(1))
    assert unused.item() == 1.0 and unused not in optimizer.state
    # Under a constant gradient each step is w = w (1 - 0.1 * 0.5) - 0.1.
    assert_close(used, [0.44351875])


def test_step_changes_the_parameter_in_its_memory(tg, maybe_compile):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer, address = tg.optim.SGD([w], lr=0.25), w.data_ptr()

    def step():
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()

    step = maybe_compile(step)
    for expected in (0.75, 0.5, 0.25, 0.0):
        step()
        assert w.tolist() == [expected] * 2 and w.grad.tolist() == [1.0, 1.0] and w.data_ptr() == address


def test_accumulated_gradients(tg, maybe_compile):
    w = tg.nn.Parameter(tg.tensor([1.0]))
    optimizer = tg.optim.SGD([w], lr=0.5)

    def accumulate(x):
        (w * x).sum().backward()

    accumulate = maybe_compile(accumulate)
    for _ in range(2):
        optimizer.zero_grad()
        for value in (1.0, 2.0, 3.0):
            accumulate(tg.tensor([value]))
        assert w.grad.item() == 6.0
        optimizer.step()
    assert w.item() == -5.0


def test_closure(tg):
    w = tg.nn.Parameter(tg.tensor([2.0]))
    optimizer = tg.optim.SGD([w], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 4.0
    assert_close(w, [1.6])


def test_add_param_group(tg):
    first, second = tg.nn.Parameter(tg.ones(1)), tg.nn.Parameter(tg.ones(1))
    optimizer = tg.optim.SGD([first], lr=0.1)
    optimizer.add_param_group({"params": [second], "lr": 1.0})
    (first + second).sum().backward()
    optimizer.step()
    assert_close(first, [0.9])
    assert_close(second, [0.0])
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optimizer.add_param_group({"params": [first]})


@pytest.mark.parametrize(
    "make, error, phrase",
    [
        (lambda tg, w: tg.optim.SGD([], lr=0.1), ValueError, "optimizer got an empty parameter list"),
        (
            lambda tg, w: tg.optim.SGD(w, lr=0.1),
            TypeError,
            "params argument given to the optimizer should be an iterable of Tensors or dicts",
        ),
        (lambda tg, w: tg.optim.SGD([w * 2], lr=0.1), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda tg, w: tg.optim.SGD([w], lr=-1), ValueError, "Invalid learning rate: -1"),
        (
            lambda tg, w: tg.optim.SGD([w], lr=0.1, nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (lambda tg, w: tg.optim.Adam([w], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda tg, w: tg.optim.Adam([w], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda tg, w: tg.optim.Adam([3]), TypeError, "optimizer can only optimize Tensors"),
    ],
)
def test_wrong_arguments(tg, make, error, phrase):
    with pytest.raises(error, match=phrase):
        make(tg, tg.nn.Parameter(tg.ones(1)))


def test_loading_state_of_another_shape(tg):
    one, two = (tg.optim.SGD([tg.nn.Parameter(tg.ones(1)) for _ in range(n)], lr=0.1) for n in (1, 2))
    with pytest.raises(
        ValueError,
        match="loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
    ):
        one.load_state_dict(two.state_dict())
