"""Traps of tensors: gradients, memory and buffers that others see and change."""

import itertools

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Traps: tensors")


def trap(make):
    return ask.either(calls=6)(make)


@trap
def gradient_shared_by_two_parameters(tg):
    """Are two parameters whose `.grad` is one tensor accumulated into one?"""
    a, b = weight(tg, 3), weight(tg, 3)

    def between(i):
        if i == 2:
            a.grad = b.grad = tg.zeros(3)

    return Program(lambda x: (a * x + b * x * 2).sum().backward(), batches(tg, 3), lambda: (a, b), between)


@trap
def gradient_that_is_a_view(tg):
    """Are gradients that are views of one flat buffer (as gradient bucketing makes) accumulated in it?"""
    a, b, flat = weight(tg, 3), weight(tg, 2), tg.zeros(5)
    a.grad, b.grad = flat[:3], flat[3:]

    def step(x):
        flat.zero_()
        (a * x).sum().backward()
        (b * x[:2]).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (a, b, flat))


@trap
def gradient_that_is_the_parameter(tg):
    """Is a gradient that is the parameter's own memory accumulated into the parameter?"""
    w = weight(tg, 3)

    def between(i):
        w.grad = w.detach()

    def step(x):
        loss = (w.detach() * w * x).sum()
        loss.backward()
        return loss.detach()

    return Program(step, batches(tg, 3), lambda: w, between)


@trap
def gradient_that_requires_grad(tg):
    """Does a gradient that was made with create_graph=True keep its history outside?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).pow(3).sum().backward(create_graph=True)
        return w.grad.requires_grad

    return Program(step, batches(tg, 3), lambda: w.grad.detach(), after=lambda i, out: setattr(w, "grad", w.grad))


@trap
def in_place_on_the_gradient_kept_outside(tg):
    """Does an in-place change inside reach a gradient that the caller holds under another name?"""
    w = weight(tg, 3)
    w.grad = ramp(tg, 3)
    held = w.grad

    def step(x):
        w.grad.mul_(0.5).add_(x)

    return Program(step, batches(tg, 3), lambda: (held, w))


@trap
def parameter_swapped_with_another(tg):
    """Are two parameters that exchange their `.data` between calls each other?"""
    a, b = weight(tg, 3), weight(tg, 3)

    def between(i):
        if i % 2:
            a.data, b.data = b.data, a.data

    def step(x):
        a.grad = b.grad = None
        (a * x + b.pow(2) * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: (a, b), between)


@trap
def data_made_an_alias(tg):
    """Do two tensors that come to share one memory by `.data` share it inside, too?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2

    def between(i):
        if i == 3:
            b.data = a.data

    def step(x):
        a.add_(x)
        return a * b

    return Program(step, batches(tg, 3), lambda: (a, b), between)


@trap
def captured_view_rebased(tg):
    """Is a captured view whose base is written to by the caller's in-place transpose read as it is then?"""
    base = ramp(tg, 3, 3)
    view = base[0]
    return Program(lambda x: x * view, batches(tg, 3), lambda: (base, view), lambda i: base.add_(i).t_())


@trap
def expanded_tensor_captured(tg):
    """Is a captured expanded tensor, all of whose elements are one, read after its element changed?"""
    one = ramp(tg, 1)
    wide = one.expand(3)
    return Program(lambda x: x * wide, batches(tg, 3), lambda: (one, wide), lambda i: one.add_(i))


@trap
def argument_shares_memory_with_a_captured_tensor(tg):
    """Is an argument that is the captured memory itself read after the write?"""
    w = ramp(tg, 6)

    def step(x):
        w.mul_(2.0)
        return x + w[:3]

    def args(i):
        return ((w[:3], w[3:], ramp(tg, 3), w.detach()[:3])[i % 4],)

    return Program(step, args, lambda: w)


@trap
def arguments_swapped(tg):
    """Are two arguments that are passed the other way round written the other way round?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2

    def step(first, second):
        first.add_(second)
        return first - second

    return Program(step, lambda i: (a, b) if i % 2 else (b, a), lambda: (a, b))


@trap
def numpy_view_of_a_result(tg):
    """Is numpy's view of a result, kept by the caller, left alone by later calls?"""
    kept = []
    return Program(lambda x: x * 2, batches(tg, 3), lambda: kept, after=lambda i, out: kept.append(out.numpy()))


@trap
def part_of_a_result_kept(tg):
    """Is a view of a result, the only thing that is kept, left alone by later calls?"""
    kept = []
    return Program(
        lambda x: (x * 2, x.sum()), batches(tg, 3), lambda: kept, after=lambda i, out: kept.append(out[0][1:])
    )


@trap
def accumulated_by_turns(tg):
    """Is an accumulation that zeroes at every other call by a flag of the surroundings right?"""
    w, clock = weight(tg, 3), {"i": 0}

    def step(x):
        (w * x).sum().backward()
        if clock["i"] % 2:
            w.grad.zero_()

    return Program(step, batches(tg, 3), lambda: w, lambda i: clock.update(i=i))


@trap
def ring_buffer(tg):
    """Does a buffer that is written at a place which Python counts on fill up round by round?"""
    memory, world = tg.zeros(3, 2), {"at": 0}

    def step(x):
        memory[world["at"] % 3] = x
        world["at"] += 1
        return memory.mean(0)

    return Program(step, batches(tg, 2), lambda: (memory, world["at"]))


@trap
def exponential_moving_average_with_warm_up(tg):
    """Does a decay that grows with a Python counter grow?"""
    w, mean, world = ramp(tg, 3), tg.zeros(3), {"n": 0}

    def step(x):
        w.add_(x)
        world["n"] += 1
        decay = min(0.9, (1 + world["n"]) / (10 + world["n"]))
        mean.mul_(decay).add_(w, alpha=1 - decay)

    return Program(step, batches(tg, 3), lambda: (w, mean, world))


@trap
def detached_alias_beside_the_parameter(tg):
    """Is a captured detach() of a parameter, used beside it, constant for the gradient?"""
    w = weight(tg, 3)
    alias, data = w.detach(), w.data
    return Program(
        lambda x: (alias * x + w * 2 * x + data * w + w.data).sum(),
        batches(tg, 3),
        lambda: w,
        after=lambda i, out: out.backward(),
    )


@trap
def detached_argument_beside_the_parameter(tg):
    """Does the gradient of a parameter pass by an argument that is its detach()?"""
    w = weight(tg, 3)

    def args(i):
        return (w.detach() if i in (1, 2) else ramp(tg, 3),)

    return Program(lambda x: (x * w).sum(), args, lambda: w, after=lambda i, out: out.backward())


@trap
def leaf_made_inside_and_returned(tg):
    """Does a leaf that the function makes and returns get its gradient from the loss that is returned, too?"""

    def step(x):
        leaf = x.detach().requires_grad_()
        return leaf, (leaf * x).sum()

    return Program(step, batches(tg, 3), after=lambda i, out: out[1].backward())


@trap
def history_from_outside_beside_its_alias(tg):
    """Does a gradient go on through operations that were done outside, to what is met as an alias first?"""
    w = weight(tg, 3)
    hidden = w * 2
    alias = hidden.detach()
    return Program(
        lambda x: (alias * x, (hidden * x + w).sum()),
        batches(tg, 3),
        lambda: w,
        after=lambda i, out: out[1].backward(retain_graph=True),
    )


@trap
def argument_over_memory_that_was_rebound(tg):
    """Is an argument that shares the memory which a written tensor got by `.data` seen to change?"""
    w, world = ramp(tg, 3), {}

    def between(i):
        if i == 3:
            world["memory"] = ramp(tg, 6)
            w.data = world["memory"][:3]

    def args(i):
        return (world["memory"][:3] if i > 3 else ramp(tg, 3),)

    def step(x):
        w.mul_(2.0)
        return x + w

    return Program(step, args, lambda: w, between)


@trap
def gradients_unshared_again(tg):
    """Are two gradients that were one tensor, and are two again, accumulated apart?"""
    a, b = weight(tg, 3), weight(tg, 3)
    a.grad = b.grad = tg.zeros(3)

    def between(i):
        if i == 3:
            b.grad = b.grad.clone()

    return Program(lambda x: (a * x + b * x * 2).sum().backward(), batches(tg, 3), lambda: (a, b), between)


VIEWS = {
    "slice": lambda x: x[:, 1:],
    "row": lambda x: x[1],
    "flat": lambda x: x.view(-1),
    "transposed": lambda x: x.t(),
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data[1:],
    "of_a_copy": lambda x: (x * 1).detach()[1:],
}
PARTS = {
    "part": lambda t: t[::2],
    "itself": lambda t: t,
    "both": lambda t: (t, t[::2]),
    "computed": lambda t: t[::2] * 2,
    "and_detached": lambda t: (t[1:], t.detach()[1:]),
}


def _view_made_a_leaf(view, part, tracked):
    def make(tg):
        def step(x):
            t = VIEWS[view](x)
            t.requires_grad_()
            return PARTS[part](t)

        histories = []

        def after(i, out):
            results = out if isinstance(out, tuple) else (out,)
            histories.append([(r.requires_grad, r.is_leaf, r.grad_fn is None) for r in results])

        def args(i):
            x = batch(tg, i, 3, 4)
            return (x.requires_grad_() if tracked else x,)

        return Program(step, args, lambda: histories, after=after)

    make.__name__ = f"{view}_made_a_leaf_{part}" + "_of_a_leaf" * tracked
    make.__doc__ = f"Has a result ({part}) of a view ({view}) that was made a leaf the eager history?"
    return trap(make)


for _view, _part in itertools.product(VIEWS, PARTS):
    _view_made_a_leaf(_view, _part, tracked=False)
    if _view in ("detached", "data", "of_a_copy"):  # others have a history then, and are no leaves to be made
        _view_made_a_leaf(_view, _part, tracked=True)


@pytest.mark.parametrize("question", ask.rows())
def test_traps_tensors(answer, question):
    answer(question)
