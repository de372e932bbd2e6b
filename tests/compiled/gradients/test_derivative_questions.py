"""Gradients: derivatives of all orders, hooks, own functions, and graphs that begin or go on outside."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, weight

ask = Section("Gradients")


def small_model(tg):
    return tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))


@ask.replay()
def autograd_grad(tg):
    """Does autograd.grad leave `.grad` alone and return what it should?"""
    w = weight(tg, 3)

    def step(x):
        y = (w * x).exp().sum()
        (g,) = tg.autograd.grad(y, w)
        return g, y.detach()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def autograd_grad_of_several(tg):
    """Does autograd.grad with grad_outputs and allow_unused return None where nothing depends?"""
    a, b, c = (weight(tg, 3) for _ in range(3))

    def step(x):
        y, z = a * x, a * b
        return tg.autograd.grad([y, z], [a, b, c], [x, x * 2], allow_unused=True)

    return Program(step, batches(tg, 3), lambda: (a, b, c))


@ask.replay()
def second_order(tg):
    """Is a gradient penalty (create_graph=True) differentiated through?"""
    model = small_model(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def step(x):
        optimizer.zero_grad()
        x = x.detach().requires_grad_()
        y = model(x)
        (g,) = tg.autograd.grad(y.sum(), x, create_graph=True)
        loss = y.pow(2).mean() + (g.norm(dim=1) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.replay()
def third_order(tg):
    """Is the third derivative by three create_graph passes right?"""

    def step(x):
        x = x.detach().requires_grad_()
        y = (x.sin() * x**2).sum()
        for _ in range(3):
            (g,) = tg.autograd.grad(y, x, create_graph=True)
            y = g.sum()
        return g.detach()

    return Program(step, batches(tg, 3))


@ask.replay()
def physics_informed(tg):
    """Does a PINN-style loss (heat equation residual) train?"""
    model = tg.nn.Sequential(tg.nn.Linear(2, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)

    def step(x, t):
        optimizer.zero_grad()
        x, t = x.detach().requires_grad_(), t.detach().requires_grad_()
        u = model(tg.cat([x, t], dim=1))
        u_t = tg.autograd.grad(u, t, tg.ones_like(u), create_graph=True)[0]
        u_x = tg.autograd.grad(u, x, tg.ones_like(u), create_graph=True)[0]
        u_xx = tg.autograd.grad(u_x, x, tg.ones_like(u_x), create_graph=True)[0]
        loss = (u_t - 0.1 * u_xx).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, lambda i: (batch(tg, i, 4, 1), batch(tg, i + 1, 4, 1)), lambda: list(model.parameters()))


@ask.replay()
def retained_graph(tg):
    """May a loss go backward twice with retain_graph=True?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        loss = (w * x).exp().sum()
        loss.backward(retain_graph=True)
        loss.backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.either()
def second_backward(tg):
    """Does a second backward() without retain_graph raise at each call, with the gradient of the first?"""
    w = weight(tg, 3)

    def step(x):
        loss = (w * x).exp().sum()
        loss.backward()
        loss.backward()

    return Program(step, batches(tg, 3), lambda: w, raises=(RuntimeError,))


@ask.replay()
def retained_inner_gradient(tg):
    """Does retain_grad() inside give the inner gradient?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        h = w * x
        h.retain_grad()
        h.pow(3).sum().backward()
        return h.grad

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def tensor_hooks_inside(tg):
    """Does a hook of an inner tensor change the gradient at each call?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        h = w * x
        h.register_hook(lambda g: g.clamp(-1, 1) + x)
        h.pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay(specialisations=3, calls=8)
def parameter_hook_added_and_removed(tg):
    """Are a parameter's hooks seen when they are added and removed between calls?"""
    w, handles = weight(tg, 3), []

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    def between(i):
        if i in (2, 4):
            handles.append(w.register_hook(lambda g: g * 10))
        if i == 6:
            handles.pop().remove()

    return Program(step, batches(tg, 3), lambda: w, between)


@ask.replay(specialisations=2)
def module_hooks(tg):
    """Are forward hooks, pre-hooks and full backward hooks of a module part of the step?"""
    model = tg.nn.Linear(3, 1)
    model.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    model.register_full_backward_hook(lambda module, gi, go: tuple(g if g is None else g * 3 for g in gi))

    def step(x):
        model.zero_grad()
        h = (x * 1.0).requires_grad_()
        model(h * 2).pow(2).sum().backward()

    def between(i):
        if i == 3:
            model.register_forward_hook(lambda module, args, out: out + 1)

    return Program(step, batches(tg, 2, 3), lambda: list(model.parameters()), between)


@ask.replay()
def post_accumulate_hook(tg):
    """Does an optimizer in a post-accumulate hook update and free the gradient?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def update(p):
        optimizer.step()
        optimizer.zero_grad()

    w.register_post_accumulate_grad_hook(update)
    return Program(lambda x: (w * x).pow(2).sum().backward(), batches(tg, 3), lambda: w)


@ask.replay()
def own_function(tg):
    """Is the backward of a custom Function believed, even if it is not the derivative?"""

    class Clipped(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x, limit):
            ctx.save_for_backward(x)
            ctx.limit = limit
            return x.clamp(-limit, limit)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 7 + x * ctx.limit, None

    w = weight(tg, 3)

    def step(x):
        w.grad = None
        Clipped.apply(w * x, 0.5).sum().backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord(calls=6)
def graph_that_began_in_an_earlier_call(tg):
    """Does backward() go on through the history that earlier calls, recorded ones too, gave a tensor?"""
    w, total = weight(tg, 3), tg.zeros(3)

    def step(x):
        total.add_(w * x)  # here
        total.sum().backward(retain_graph=True)
        return total.detach().clone()

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def graph_that_began_outside(tg):
    """Does backward() go on through a graph that began outside?"""
    w = weight(tg, 3)

    def args(i):
        return ((w * batch(tg, i, 3)).exp(),)

    def step(h):
        h.pow(2).sum().backward()  # here

    return Program(step, args, lambda: w)


@ask.either()
def captured_tensor_with_a_history(tg):
    """Is a captured result of an eager computation differentiated to its leaves?"""
    w = weight(tg, 3)
    box = {}

    def between(i):
        box["h"] = (w * (i + 1)).exp()

    def step(x):
        (box["h"] * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, between)


@ask.replay(c_calls=8)
def result_used_by_eager_autograd(tg):
    """Does a result carry its history to eager code outside?"""
    w = weight(tg, 3)
    return Program(lambda x: (w * x).tanh(), batches(tg, 3), lambda: w, after=lambda i, out: (out**2).sum().backward())


@ask.replay(c_calls=12)
def results_differentiated_one_by_one(tg):
    """May several results of one call be differentiated one after the other?"""
    w = weight(tg, 3)

    def after(i, out):
        (out[0] * 2).sum().backward(retain_graph=True)
        (out[1] ** 2).sum().backward()

    return Program(lambda x: ((w * x).exp(), w * x), batches(tg, 3), lambda: w, after=after)


@ask.either()
def model_called_three_times_before_one_backward(tg, compiled):
    """May a compiled model be called several times before one backward()?"""
    model = small_model(tg)
    forward = compiled(model)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def after(i, out):
        optimizer.zero_grad()
        sum(forward(batch(tg, i, 4, 3) * k).pow(2).mean() for k in (1, 2, 3)).backward()
        optimizer.step()

    return Program(lambda x: model(x).detach(), batches(tg, 4, 3), lambda: list(model.parameters()), after=after)


@ask.either()
def weights_changed_between_forward_and_backward(tg):
    """Does backward() outside fail if the step's saved weight was changed in place meanwhile?"""
    w, seen = weight(tg, 3), []

    def after(i, out):
        if i % 2:
            with tg.no_grad():
                w.add_(1.0)
        try:
            out.sum().backward()
        except RuntimeError as error:
            seen.append("modified by an inplace operation" in str(error))

    return Program(lambda x: w.pow(2) * x, batches(tg, 3), lambda: (w, seen), after=after)


@ask.replay()
def adversarial_example(tg):
    """Does a step that moves its input along the sign of the gradient (FGSM) train?"""
    model = small_model(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def step(x):
        near = x.clone().requires_grad_()
        (g,) = tg.autograd.grad(model(near).pow(2).mean(), near)
        optimizer.zero_grad()
        loss = model(x + 0.1 * g.sign()).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.replay()
def inner_loop_of_meta_learning(tg):
    """Is an update inside that is differentiated through (MAML) right?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        fast = w
        for _ in range(2):
            (g,) = tg.autograd.grad((fast * x).pow(2).sum(), fast, create_graph=True)
            fast = fast - 0.1 * g
        (fast * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def backward_with_inputs(tg):
    """Does backward(inputs=[...]) accumulate there only?"""
    a, b = weight(tg, 3), weight(tg, 3)

    def step(x):
        a.grad = b.grad = None
        (a * b * x).sum().backward(inputs=[a])

    return Program(step, batches(tg, 3), lambda: (a, b))


@ask.replay()
def backward_of_a_vector(tg):
    """Does backward(gradient) of a tensor that is no scalar use the gradient?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).backward(x)

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def hook_registered_inside(tg):
    """Does a hook that the step registers on a parameter stay, and add up?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        w.register_hook(lambda g: g * 2)  # here
        (w * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def hook_that_keeps_gradients(tg):
    """Does a hook that appends to a list append at each call?"""
    w, kept = weight(tg, 3), []
    w.register_hook(lambda g: kept.append(g.sum()))  # here

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, kept))


@ask.rerecord()
def own_function_for_later(tg):
    """Is the backward of a custom Function believed, when it is run outside?"""
    w = weight(tg, 3)

    class Double(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 100

    def step(x):
        return Double.apply(w * x)  # here

    return Program(step, batches(tg, 3), lambda: w, after=lambda i, out: out.sum().backward())


@ask.rerecord()
def a_derivative_that_nobody_has(tg):
    """Is a result returned whose derivative is not there, as long as no backward pass asks for it?"""
    w = weight(tg, 3)

    def step(x):
        return tg.special.gammaincc(w.exp(), x.exp())  # here

    return Program(step, batches(tg, 3), lambda: w, after=lambda i, out: out.detach().sum())


@pytest.mark.parametrize("question", ask.rows())
def test_derivatives(answer, question):
    answer(question)
