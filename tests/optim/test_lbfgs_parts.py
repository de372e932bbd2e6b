"""The parts of L-BFGS that subclasses use and override, under PyTorch's names."""

import copy

import pytest

import tracegrad as tg


def start():
    values = [[4.0, -2.0], [[1.5, 2.0]], [1.0]]
    return [tg.nn.Parameter(tg.tensor(each)) for each in values]  # the last one has no gradient


def trained(kind, steps=2, **options):
    """What the steps return, and where they lead."""
    parameters = start()
    optimizer = kind(parameters, max_iter=5, **options)

    def closure():
        optimizer.zero_grad()
        loss = (parameters[0] ** 2).sum() + (parameters[1] ** 4).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    return optimizer, losses, [p.tolist() for p in parameters]


class Noting(tg.optim.LBFGS):
    """Notes what the base's step calls, with the arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.calls = []

    def _gather_flat_grad(self):
        self.calls.append("gather")
        return super()._gather_flat_grad()

    def _add_grad(self, step_size, update):
        self.calls.append("add")
        assert update.shape == (5,) and float(step_size) >= 0
        super()._add_grad(step_size, update)

    def _clone_param(self):
        self.calls.append("clone")
        return super()._clone_param()

    def _set_param(self, params_data):
        self.calls.append("set")
        super()._set_param(params_data)

    def _directional_evaluate(self, closure, x, t, d):
        self.calls.append("evaluate")
        return super()._directional_evaluate(closure, x, t, d)


TRIED = ["evaluate", "add", "gather", "set"]


@pytest.mark.parametrize(
    ("search", "calls"), [(None, ["add", "gather"] * 4 + ["add"]), ("strong_wolfe", (["clone", *TRIED, "add"]) * 5)]
)
def test_a_step_calls_what_is_overridden(search, calls):
    """In PyTorch's order, which asks for the gradient first; the results are those of the base."""
    optimizer, losses, ends = trained(Noting, steps=1, line_search_fn=search)
    assert optimizer.calls == ["gather", *calls]
    expected = trained(tg.optim.LBFGS, steps=1, line_search_fn=search)
    assert losses == pytest.approx(expected[1], rel=1e-5)
    for end, other in zip(ends, expected[2], strict=True):
        assert tg.allclose(tg.tensor(end), tg.tensor(other), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_gradient_that_is_overridden_counts(search):
    """With a gradient of one of the parameter that has none, this one moves as well."""

    class Pulled(tg.optim.LBFGS):
        def _gather_flat_grad(self):
            return super()._gather_flat_grad() + tg.tensor([0.0, 0.0, 0.0, 0.0, 1.0])

    assert trained(tg.optim.LBFGS, line_search_fn=search)[2][2] == [1.0]
    assert trained(Pulled, line_search_fn=search)[2][2][0] < 1.0


def test_a_step_of_a_programs_own():
    class Descent(tg.optim.LBFGS):
        @tg.no_grad()
        def step(self, closure):
            with tg.enable_grad():
                loss = closure()
            gradient, before = self._gather_flat_grad(), self._clone_param()
            found, there = self._directional_evaluate(tg.enable_grad()(closure), before, -0.5, gradient)
            assert all(tg.equal(p, q) for p, q in zip(self._params, before, strict=True))
            assert found == (1.5 - 0.5 * 13.5) ** 4 + (2.0 - 0.5 * 32.0) ** 4 and there[:2].tolist() == [0.0, 0.0]
            self._add_grad(-0.25, gradient)
            return loss

    optimizer, losses, ends = trained(Descent, steps=1)
    assert losses == [16.0 + 4.0 + 1.5**4 + 16.0] and ends == [[2.0, -1.0], [[1.5 - 0.25 * 13.5, -6.0]], [1.0]]
    assert optimizer._params is optimizer.param_groups[0]["params"] and optimizer._numel() == 5
    assert optimizer._numel_cache == 5
    with tg.no_grad(), pytest.raises(AssertionError, match="to equal 5"):
        optimizer._params.pop()
        optimizer._add_grad(1.0, tg.ones(4))


def test_complex_parameters_count_as_two_numbers():
    parameters = [tg.nn.Parameter(tg.tensor([1 + 2j, 3j])), tg.nn.Parameter(tg.ones(1))]
    optimizer = tg.optim.LBFGS(parameters)
    parameters[0].grad = tg.tensor([1j, 2.0 + 0j])
    assert optimizer._numel() == 5 and optimizer._gather_flat_grad().tolist() == [0.0, 1.0, 2.0, 0.0, 0.0]
    with tg.no_grad():
        optimizer._add_grad(0.5, tg.arange(5.0))
    assert parameters[0].tolist() == [1 + 2.5j, 1 + 4.5j] and parameters[1].tolist() == [3.0]


def test_copies_have_parts_of_their_own():
    optimizer = trained(tg.optim.LBFGS)[0]
    copied = copy.deepcopy(optimizer)
    assert copied._params is copied.param_groups[0]["params"] and copied._params[0] is not optimizer._params[0]
    copied.load_state_dict(optimizer.state_dict())
    assert copied._params is copied.param_groups[0]["params"]
