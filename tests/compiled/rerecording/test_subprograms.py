"""Re-recorded calls in which models, losses and optimizers are programs of their own."""

import pytest
from side_by_side import Program, batch

LOOKED_AT = []


def trained(tg, model, look=LOOKED_AT.append, loss=None, before=lambda i: None, calls=lambda model, x: model(x)):
    """A step that gives a number to `look`, so that Python has to run at each call."""
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)
    loss = loss or tg.nn.functional.mse_loss

    def step(x, y):
        optimizer.zero_grad()
        value = loss(calls(model, x), y)
        value.backward()
        optimizer.step()
        if look(value.item()):
            return value * 2
        return value

    def between(i):
        del LOOKED_AT[:]
        before(i)

    return Program(
        step, lambda i: (batch(tg, i, 5, 3), batch(tg, i + 1, 5, 2)), lambda: list(model.parameters()), between
    )


def mlp(tg):
    tg.manual_seed(0)
    return tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Dropout(0.5), tg.nn.ReLU(), tg.nn.Linear(4, 2))


def test_model_and_optimizer_are_parts(agree):
    step = agree(lambda tg: trained(tg, mlp(tg), lambda number: number > 0.5), calls=8)
    assert step.way == "re-record"
    assert set(step.parts) == {"Sequential", "mse_loss", "Adam"}
    assert "and Sequential, mse_loss, Adam as a program of its own" in step.explain()


def test_a_loss_of_many_ops_is_a_part(agree):
    def make(tg):
        program = trained(tg, mlp(tg), loss=tg.nn.functional.cross_entropy)
        program.args = lambda i: (batch(tg, i, 5, 3), tg.tensor([0, 1, 1, 0, i % 2]))
        return program

    assert "cross_entropy" in agree(make, calls=8).parts


def test_a_model_is_served_as_it_is_now(agree):
    """Trained and evaluated, frozen, with another weight, with a hook, one after the other."""

    def make(tg):
        model = mlp(tg)

        def before(i):
            model.train(i % 5 != 3)
            model[0].weight.requires_grad_(i % 4 != 2)
            if i == 6:
                model[3].bias.data = tg.ones(2)
            if i == 8:
                model[3].register_forward_hook(lambda module, args, out: out * 2)

        return trained(tg, model, before=before)

    agree(make, calls=14)


def test_hooks_are_called_in_the_eager_order(agree):
    def make(tg):
        model, called = mlp(tg), []
        for name, parameter in model.named_parameters():
            parameter.register_post_accumulate_grad_hook(lambda p, name=name: called.append(name))
        program = trained(tg, model)
        program.state = lambda: (list(model.parameters()), list(called))
        return program

    step = agree(make, calls=6)
    assert "Adam" in step.parts and "Sequential" not in step.parts


def test_a_model_that_prints_is_no_part_but_its_layers_are(agree):
    def make(tg):
        class Talking(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = mlp(tg)

            def forward(self, x):
                print(len(x))
                return self.inner(x)

        return trained(tg, Talking())

    step = agree(make, calls=8)
    assert "Sequential" in step.parts


def test_a_model_that_keeps_what_it_computed_is_no_part(agree):
    def make(tg):
        class Keeping(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = tg.nn.Linear(3, 2)

            def forward(self, x):
                self.last = self.layer(x).tanh().exp()
                return self.last

        model = Keeping()
        program = trained(tg, model)
        program.state = lambda: (list(model.parameters()), getattr(model, "last", None))
        return program

    agree(make, calls=6)


def test_a_cell_in_a_loop(agree):
    def calls(model, x):
        hidden = x
        for layer in (0, 1, 2):
            hidden = model(hidden).tanh() + x.tanh() * layer
        return hidden[:, :2]

    def make(tg):
        tg.manual_seed(0)
        return trained(tg, tg.nn.Sequential(tg.nn.Linear(3, 6), tg.nn.Tanh(), tg.nn.Linear(6, 3)), calls=calls)

    step = agree(make, calls=6)
    assert "Sequential" in step.parts


def test_models_that_are_made_anew_cost_no_programs(agree):
    def make(tg):
        def step(x):
            tg.manual_seed(3)
            value = mlp(tg)(x).pow(2).sum()
            return value * 2 if value.item() > 1 else value

        return Program(step, lambda i: (batch(tg, i, 5, 3),))

    assert not agree(make, calls=8).parts


@pytest.mark.parametrize("names", ["create_graph", "next_functions"])
def test_who_looks_at_the_graph_sees_the_eager_one(agree, names):
    def make(tg):
        model = mlp(tg)

        def step(x):
            x = x.clone().requires_grad_()
            y = model(x)
            if names == "create_graph":
                (slope,) = tg.autograd.grad(y.sum(), x, create_graph=True)
                y = y + slope.sum()
            else:
                LOOKED_AT.append([node.name() for node, _ in y.grad_fn.next_functions if node is not None])
            y.sum().backward()
            return x.grad if y.sum().item() > 0 else None

        return Program(step, lambda i: (batch(tg, i, 5, 3),), lambda: (list(model.parameters()), list(LOOKED_AT)),
                       lambda i: LOOKED_AT.clear())  # fmt: skip

    assert not agree(make, calls=6).parts


def test_an_error_in_a_part_is_the_eager_one(agree):
    def make(tg):
        model = mlp(tg)
        program = trained(tg, model)

        def step(x, y):
            try:
                return program.step(x, y)
            except RuntimeError as error:
                return str(error)

        args = lambda i: (batch(tg, i, 5, 3 if i != 5 else 4), batch(tg, i + 1, 5, 2))  # noqa: E731
        return Program(step, args, program.state, program.between)

    agree(make, calls=8)
