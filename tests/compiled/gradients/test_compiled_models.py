"""Compiled models in eager programs: one node of the tape for a call, whose backward pass is a program, too."""

import pytest
from side_by_side import Program, batch, ramp, weight


def two_heads(tg):
    """A model of two results; the second is nan behind its loss, which nobody may notice who does not ask for it."""

    class Heads(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk, self.left, self.right = tg.nn.Linear(3, 4), tg.nn.Linear(4, 2), tg.nn.Linear(4, 2)
            self.dropout = tg.nn.Dropout(0.3)

        def forward(self, x):
            hidden = self.dropout(self.trunk(x).tanh())
            return self.left(hidden), (self.right(hidden) - 100).sqrt(), hidden

    return Heads()


def used(tg, use):
    """Training with some of the results."""
    model = two_heads(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1, momentum=0.9)
    forward = tg.compile(model)

    def step(x):
        optimizer.zero_grad()
        loss = use(forward(x))
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, lambda i: (batch(tg, i, 5, 3),), lambda: list(model.parameters()))


USES = {
    "the first": lambda results: results[0].sum(),
    "the last": lambda results: results[2].pow(2).sum(),
    "two of three": lambda results: results[0].sum() + results[2].mean(),
    "twice": lambda results: (results[0] * results[0]).sum(),
}


@pytest.mark.parametrize("use", USES)
def test_results_that_are_not_used_have_no_part_in_the_gradients(agree, use):
    agree(lambda tg: used(tg, USES[use]))


def test_parameters_behind_unused_results_have_no_gradient(tg):
    model = two_heads(tg)
    forward = tg.compile(model)
    for i in range(4):
        model.zero_grad()
        forward(batch(tg, i, 2, 3))[0].sum().backward()
        assert model.right.weight.grad is None and model.right.bias.grad is None
        assert bool(tg.isfinite(model.trunk.weight.grad).all())


def test_gradients_of_gradients_go_through_a_compiled_model(agree):
    def make(tg):
        model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))
        optimizer = tg.optim.Adam(model.parameters(), lr=0.05)
        forward = tg.compile(model)

        def step(x):
            x = x.clone().requires_grad_()
            y = forward(x)
            (slope,) = tg.autograd.grad(y.sum(), x, create_graph=True)
            (bend,) = tg.autograd.grad(slope.sum(), x, create_graph=True)
            loss = (bend + y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss, slope.detach(), x.grad

        return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: list(model.parameters()))

    agree(make)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("kind", ["dropout", "noise", "batch_norm", "counter"])
def test_gradients_of_gradients_of_a_call_that_has_overwritten_what_it_read(agree, kind, beside):
    """Random numbers and buffers are, in the second derivative, what they were before the call."""

    def make(tg):
        class Layer(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", ramp(tg, 4))

            def forward(self, x):
                out = x * self.mean.clone()
                with tg.no_grad():
                    self.mean.mul_(0.5).add_(1)
                return out

        class Noise(tg.nn.Module):
            def forward(self, x):
                return x * tg.randn(4, 4).exp()

        layers = {"dropout": tg.nn.Dropout(0.5), "noise": Noise(), "batch_norm": tg.nn.BatchNorm1d(4)}
        layer = layers.get(kind) or Layer()
        tg.manual_seed(0)
        model = tg.nn.Sequential(tg.nn.Linear(3, 4), layer, tg.nn.Tanh(), tg.nn.Linear(4, 1))
        forward, log = tg.compile(model), []

        def step(x):
            x = x.clone().requires_grad_()
            (slope,) = tg.autograd.grad(forward(x).sum(), x, create_graph=True)
            if beside:
                log.append(slope.sum().item())
            slope.pow(2).sum().backward()
            return slope.detach(), x.grad

        return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: (list(model.parameters()), tg.rand(2)))

    agree(make)


def test_an_argument_that_eager_mode_does_not_save_may_be_overwritten(agree):
    """relu keeps its result, so its operand may change before the backward pass; a product's operand may not."""

    def make(tg):
        w = weight(tg, 3)
        forward = tg.compile(lambda x: tg.relu(x + 1).exp() + w)

        def step(x):
            leaf = x.clone().requires_grad_()
            y = leaf * 1
            result = forward(y)
            y.add_(100)
            result.sum().backward()
            return leaf.grad

        return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)

    agree(make)


def test_an_argument_that_eager_mode_saves_may_not(agree):
    def make(tg):
        w = weight(tg, 3)
        forward = tg.compile(lambda x: x * w)

        def step(x):
            y = x.clone()
            result = forward(y)
            y.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                result.sum().backward()

        return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)

    agree(make)


def test_the_node_is_called_as_in_eager_mode(tg):
    model = tg.nn.Linear(3, 2)
    forward = tg.compile(model)
    for i in range(3):
        assert forward(batch(tg, i, 4, 3)).grad_fn.name() == model(batch(tg, i, 4, 3)).grad_fn.name()


@pytest.mark.parametrize("name", ["exp", "sin"])
def test_a_result_that_eager_mode_saves_may_not_be_overwritten(agree, name):
    """exp keeps its result for the backward pass, sin does not."""

    def make(tg):
        w = weight(tg, 3)
        forward = tg.compile(lambda x: getattr(x * w, name)())

        def step(x):
            result = forward(x)
            result.add_(1)
            try:
                result.sum().backward()
            except RuntimeError as error:
                return "modified by an inplace operation" in str(error)

        return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)

    agree(make)


def test_a_result_of_what_the_optimizer_has_just_written(agree):
    """Its gradient leads to the parameter, whose new value is no input of the graph: such calls are re-recorded."""

    def make(tg):
        w = tg.full((3,), 0.5, requires_grad=True)
        optimizer = tg.optim.SGD([w], lr=0.1)

        def step(x):
            (w * x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            return (w.tanh() * x).sum()

        def after(i, result):
            result.backward()

        program = Program(step, lambda i: (tg.full((3,), 1.0 + i),), lambda: [w])
        program.after = after
        return program

    assert agree(make, calls=6).way == "re-record"
