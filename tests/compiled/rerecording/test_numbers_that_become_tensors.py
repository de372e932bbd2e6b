"""A backward pass that is known, where a number that an op has kept comes as a tensor in a later call, and back."""

import pytest


@pytest.mark.parametrize("begins", ["number", "tensor"])
def test_a_factor_is_a_number_in_some_calls(tg, begins):
    def run(block):
        weight, losses = tg.arange(6.0).reshape(2, 3).requires_grad_(), []
        with block:
            for i in range(24):
                is_number = ((i // 6) % 2 == 0) == (begins == "number")
                factor = 2.0 + i % 3 if is_number else tg.tensor(2.0 + i % 3)
                weight.grad = None
                loss = ((weight + 1.0) * factor).square().mean()
                loss.backward()
                with tg.no_grad():
                    weight -= 0.01 * weight.grad
                losses.append(loss.item())
        return losses

    assert run(tg.deferred()) == pytest.approx(run(tg.enable_grad()), rel=1e-5)


def test_a_factor_that_changes_when_the_pass_is_known(tg):
    def run(block):
        linear, losses = tg.nn.Linear(3, 3), []
        with tg.no_grad():
            linear.weight.fill_(0.1), linear.bias.fill_(0.2)
        optimizer, factor = tg.optim.SGD(linear.parameters(), lr=0.01), 2.0
        with block:
            for i in range(16):
                factor = 2.0 if i < 5 else 1.0 + 0.1 * i
                optimizer.zero_grad()
                loss = (linear(tg.ones(2, 3)) * factor).square().mean()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        return losses

    assert run(tg.deferred()) == pytest.approx(run(tg.enable_grad()), rel=1e-5)
