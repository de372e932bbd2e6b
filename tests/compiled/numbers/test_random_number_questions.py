"""Random numbers: PyTorch's CPU stream, drawn eager and compiled as if by one hand. The runner compares the bits."""

import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp

ask = Section("Random numbers")


@ask.replay(specialisations=2)  # with and without a normal number left over from the call before
def all_kinds_of_draws(tg):
    """Do rand, randn, randint, randperm, bernoulli and normal_ draw the same numbers, fresh at each call?"""

    def step(x):
        return (
            tg.rand(3),
            tg.randn(20),
            tg.randint(0, 9, (4,)),
            tg.randperm(5),
            tg.bernoulli(x),
            tg.empty(3).normal_(1, 2),
        )

    return Program(step, lambda i: (tg.full((4,), 0.5),))


@ask.replay()
def like_another(tg):
    """Do rand_like, randn_like and uniform_ draw the same numbers?"""
    return Program(lambda x: (tg.rand_like(x), tg.randn_like(x), x.clone().uniform_(-1, 1)), batches(tg, 2, 3))


@ask.replay()
def dropout_in_training(tg):
    """Are the masks of dropout the eager ones, in forward and backward?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 8), tg.nn.Dropout(0.3), tg.nn.Linear(8, 1), tg.nn.Dropout(0.5))

    def step(x):
        model.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.replay()
def continued_by_eager_draws(tg):
    """Do eager draws between the calls continue the stream, and the calls continue theirs?"""
    drawn = []
    return Program(lambda x: x + tg.rand(3), batches(tg, 3), lambda: drawn, lambda i: drawn.append(tg.randn(3)))


@ask.replay()
def seeded_between_calls(tg):
    """Does manual_seed between calls start the stream anew?"""
    return Program(lambda x: x + tg.randn(3), batches(tg, 3), tuple, lambda i: tg.manual_seed(i // 2))


@ask.either()
def seeded_inside(tg):
    """Does manual_seed inside give the same numbers at each call?"""

    def step(x):
        tg.manual_seed(5)
        return x + tg.rand(3)

    return Program(step, batches(tg, 3))


@ask.either()
def seeded_inside_by_an_argument(tg):
    """Does manual_seed(n) inside use this call's n?"""

    def step(x, n):
        tg.manual_seed(n)
        return x + tg.rand(3)

    return Program(step, lambda i: (ramp(tg, 3), i // 2))


@ask.either()
def generator_captured(tg):
    """Does a captured Generator go on, beside the global stream?"""
    g = tg.Generator()
    g.manual_seed(3)
    return Program(
        lambda x: (tg.rand(3, generator=g) + x, tg.rand(3)), batches(tg, 3), lambda: g.get_state().tolist()[:10]
    )


@ask.either()
def generator_as_an_argument(tg):
    """Does a Generator that is passed draw from its own stream?"""
    gs = [tg.Generator(), tg.Generator()]
    for n, g in enumerate(gs):
        g.manual_seed(n)
    return Program(lambda x, g: x + tg.randn(3, generator=g), lambda i: (ramp(tg, 3), gs[i % 2]))


@ask.either()
def generator_seeded_between_calls(tg):
    """Does seeding a captured Generator between calls take effect?"""
    g = tg.Generator()
    return Program(lambda x: x + tg.randperm(3, generator=g), batches(tg, 3), tuple, lambda i: g.manual_seed(i // 2))


@ask.either()
def generator_rebound(tg):
    """Is another Generator under the same name the one that draws?"""
    box = {}

    def between(i):
        box["g"] = tg.Generator()
        box["g"].manual_seed(i)

    return Program(lambda x: x + tg.rand(3, generator=box["g"]), batches(tg, 3), tuple, between)


@ask.replay()
def state_restored_between_calls(tg):
    """Does set_rng_state between calls bring the numbers back?"""
    states = [tg.get_rng_state()]

    def between(i):
        if i % 2:
            tg.set_rng_state(states[0])

    return Program(lambda x: x + tg.rand(3), batches(tg, 3), tuple, between)


@ask.either()
def state_read_and_restored_inside(tg):
    """Do get_rng_state and set_rng_state inside make the same noise twice, new at each call?"""

    def step(x):
        state = tg.get_rng_state()
        first = tg.rand(3)
        tg.set_rng_state(state)
        return first + x, tg.rand(3) + x

    return Program(step, batches(tg, 3))


@ask.either()
def forked_inside(tg):
    """Does fork_rng inside leave the stream where it was?"""

    def step(x):
        with tg.random.fork_rng():
            noise = tg.rand(3)
        return x + noise, tg.rand(3)

    return Program(step, batches(tg, 3))


@ask.either()
def forked_and_seeded_inside(tg):
    """Does a seed within fork_rng stay within it?"""

    def step(x):
        with tg.random.fork_rng():
            tg.manual_seed(1)
            noise = tg.rand(3)
        return x + noise, tg.rand(3)

    return Program(step, batches(tg, 3))


@ask.replay(specialisations=2)
def normal_left_over_around_a_fork(tg):
    """Is a normal number that is left over from the call before still there behind a fork with a seed of its own?"""

    def step(x):
        with tg.random.fork_rng():
            tg.manual_seed(1)
            noise = tg.randn(3)
        return x + noise, tg.randn(1)

    return Program(step, batches(tg, 3))


@ask.replay()
def forked_behind_a_seed(tg):
    """Does what is left over from the call before matter no more behind a seed?"""

    def step(x):
        tg.manual_seed(1)
        first = tg.randn(3)
        with tg.random.fork_rng():
            noise = tg.randn(2)
        return x + noise.sum(), first, tg.randn(1)

    return Program(step, batches(tg, 3))


@ask.replay(specialisations=2)
def drawn_only_in_training(tg):
    """Does an evaluation between training calls leave the stream alone?"""
    drop = tg.nn.Dropout(0.5)
    return Program(lambda x: drop(x), batches(tg, 3), tuple, lambda i: drop.train(i % 2 == 0))


@ask.replay()
def drawn_and_thrown_away(tg):
    """Does a draw whose numbers nobody uses still advance the stream?"""

    def step(x):
        tg.rand(7)
        return x * 2

    return Program(step, batches(tg, 3))


@ask.replay(specialisations=2)  # with and without a normal number left over from the call before
def reparametrised(tg):
    """Does a sample by mean and deviation (VAE) carry gradients to both?"""
    mean, deviation = ramp(tg, 3).requires_grad_(), ramp(tg, 3).requires_grad_()

    def step(x):
        mean.grad = deviation.grad = None
        z = mean + deviation.exp() * tg.randn(3)
        (z * x).pow(2).sum().backward()
        return z

    return Program(step, batches(tg, 3), lambda: (mean, deviation))


@ask.replay()
def shuffled_inside(tg):
    """Is a permutation that is drawn inside used as the index of this call?"""
    data = ramp(tg, 6, 2)

    def step(x):
        order = tg.randperm(6)
        return data[order[:3]] * x, order

    return Program(step, lambda i: (tg.tensor(float(i)),))


@ask.either()
def initialised_inside(tg):
    """Are layers that are made inside initialised anew at each call?"""

    def step(x):
        layer = tg.nn.Linear(3, 2)
        return layer(x).detach()

    return Program(step, batches(tg, 2, 3))


@ask.rerecord()
def python_random(tg):
    """Is a number from Python's random drawn at each call?"""
    import random  # noqa: PLC0415  as in a notebook's cell

    def step(x):
        return x * random.random()  # here

    return Program(step, batches(tg, 3))


@pytest.mark.parametrize("question", ask.rows())
def test_random_numbers(answer, question):
    answer(question)
