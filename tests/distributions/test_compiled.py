"""Distributions in compiled functions: the eager results, from one program, and arguments are still checked."""

import warnings

import numpy as np
import pytest
from expected import distributions as cases
from expected import divergences

# Sums are taken in another order, and second derivatives of densities cancel terms of some thousand.
RTOL = {"float32": 1e-4, "float64": 1e-9}
#: Their decompositions and triangular systems are numpy's: calls are re-recorded around them.
OF_MATRICES = {"MultivariateNormal", "LowRankMultivariateNormal", "Wishart"}
#: Samplers that look at numbers: loops that reject, and normal numbers beside gamma numbers, whose count differs.
SAMPLED_IN_LOOPS = {"VonMises", "StudentT"}
#: Samples of these take no decomposition.
SAMPLED_BY_PRODUCTS = {"MultivariateNormal of triangle"}


def builder(tg, name, texts=cases.DISTRIBUTIONS, place=0):
    """A function that makes the distribution of a case from its parameters."""
    build = eval(f"lambda tg, D, p, c: {texts[name][place]}")
    dtype = getattr(tg, cases.DTYPES.get(name, "float64"))

    def constant(*rows):
        return tg.tensor(list(rows), dtype=dtype)

    def made(parameters):
        given = iter(parameters)
        return build(tg, tg.distributions, lambda *rows: next(given), constant)

    return made


def operands(tg, name, scale=1.0, texts=cases.DISTRIBUTIONS, places=(0, 1)):
    """Parameters of a case, multiplied, and its value."""
    scope, parameters = cases.Scope(tg, cases.DTYPES.get(name, "float64")), []
    scope["p"] = lambda *rows: parameters.append(scope.constant(*rows)) or parameters[-1]
    for place in places:
        value = eval(texts[name][place], scope)
    return [(x * scale).detach().requires_grad_() for x in parameters], value


def assert_same(found, wanted):
    assert set(found) == set(wanted)
    for key, expected in wanted.items():
        rtol = RTOL.get(np.asarray(expected).dtype.name, 0)
        np.testing.assert_allclose(found[key], expected, rtol=rtol, atol=rtol, err_msg=key)


def assert_compiled(tg, make_step, make_arguments, replayed=True, scales=(1.0, 0.97, 0.95, 1.0)):
    """A compiled step gives what the eager one gives, call after call, from one program."""
    eager, step = make_step(), tg.compile(make_step())
    for scale in scales:
        results = []
        for run in (step, eager):
            tg.manual_seed(3)
            results.append(run(*make_arguments(scale)))
        assert_same(*results)
    assert step.way == ("replay" if replayed else "re-record"), step.explain()
    assert len(step.specialisations) == int(replayed)


# ------------------------------------------------------------------------------------------------- what training does


def test_policy_gradient_is_one_program(tg):
    policy = tg.nn.Linear(4, 3)
    optimizer = tg.optim.SGD(policy.parameters(), lr=0.1)

    def step(observations, rewards):
        optimizer.zero_grad()
        actions = tg.distributions.Categorical(logits=policy(observations))
        taken = actions.sample()
        loss = -(actions.log_prob(taken) * rewards).mean() - 0.01 * actions.entropy().mean()
        loss.backward()
        optimizer.step()
        return loss.detach(), taken

    start = {name: x.clone() for name, x in policy.state_dict().items()}
    batches = [(tg.randn(6, 4), tg.randn(6)) for _ in range(5)]
    trajectories = []
    for run in (step, compiled := tg.compile(step)):
        policy.load_state_dict(start)
        tg.manual_seed(1)
        trajectories.append([tuple(x.clone() for x in run(*batch)) for batch in batches])
    for (loss, taken), (other_loss, other_taken) in zip(*trajectories, strict=True):
        assert tg.equal(taken, other_taken)
        assert tg.allclose(loss, other_loss, rtol=1e-5)  # float32: other orders of sums
    assert compiled.way == "replay" and len(compiled.specialisations) == 1


@pytest.mark.long(every=5)
def test_variational_autoencoders_are_one_program(tg):
    encoder, decoder = tg.nn.Linear(5, 4), tg.nn.Linear(2, 5)
    optimizer = tg.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    prior = tg.distributions.Normal(tg.zeros(2), tg.ones(2))

    def step(x):
        optimizer.zero_grad()
        loc, log_scale = encoder(x).chunk(2, dim=-1)
        posterior = tg.distributions.Normal(loc, log_scale.exp())
        of_latent = tg.distributions.kl_divergence(posterior, prior).sum(-1)
        likelihood = tg.distributions.Bernoulli(logits=decoder(posterior.rsample()))
        loss = (of_latent - likelihood.log_prob((x > 0).float()).sum(-1)).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    modules = tg.nn.ModuleList([encoder, decoder])
    start = {name: x.clone() for name, x in modules.state_dict().items()}
    batches = [tg.randn(7, 5) for _ in range(5)]
    trajectories = []
    for run in (step, compiled := tg.compile(step)):
        modules.load_state_dict(start)
        optimizer.state.clear()
        tg.manual_seed(1)
        trajectories.append([run(x).item() for x in batches])
    np.testing.assert_allclose(*trajectories, rtol=1e-5)  # float32: other orders of sums
    assert compiled.way == "replay" and len(compiled.specialisations) == 1


@pytest.mark.long(every=5)
def test_a_squashed_policy_is_one_program_and_keeps_its_cached_inverse(tg):
    def make_step():
        transform = tg.distributions.TanhTransform(cache_size=1)

        def step(loc):
            action = tg.distributions.TransformedDistribution(tg.distributions.Normal(loc, 1.0), [transform])
            taken = action.rsample()
            return {"taken": taken.detach(), **cases.derivatives(tg, action.log_prob(taken), [loc], "d")}

        return step

    # Saturated: without the cache the inverse of tanh would be infinite.
    assert_compiled(tg, make_step, lambda scale: [(tg.tensor([0.3, 12.0]) * scale).requires_grad_()])


def test_values_are_checked_in_programs_and_at_the_line_that_eager_mode_names(tg):
    D = tg.distributions

    def step(loc, scale, x):
        loss = D.Normal(loc, scale).log_prob(x).mean()
        loss.backward()
        return loss.detach()

    def arguments(scale=1.0, value=0.5):
        loc, deviation = tg.zeros(2), tg.tensor([1.0, scale])
        return loc.requires_grad_(), deviation.requires_grad_(), tg.tensor([0.1, value])

    compiled = tg.compile(step)
    for _ in range(3):
        compiled(*arguments())
    programs = len(compiled.specialisations)
    for bad in ({"scale": -1.0}, {"value": float("nan")}):
        given = arguments(**bad)
        with pytest.raises(ValueError) as of_program:
            compiled(*given)
        assert given[0].grad is None  # nothing was done
        with pytest.raises(ValueError) as of_eager:
            step(*arguments(**bad))
        assert str(of_program.value) == str(of_eager.value)
        with pytest.raises(ValueError) as of_first_call:
            tg.compile(step)(*arguments(**bad))
        assert str(of_first_call.value) == str(of_eager.value)
        with pytest.raises(ValueError) as of_deferred, tg.deferred():
            step(*arguments(**bad))
        assert str(of_deferred.value) == str(of_eager.value)
    compiled(*arguments())
    assert compiled.way == "replay" and len(compiled.specialisations) == programs == 1


def test_a_step_with_and_without_samples_replays_one_program(tg, c_calls):
    D = tg.distributions
    mu, sigma = (tg.ones(4).requires_grad_() for _ in range(2))  # an odd number of normal draws leaves one behind

    def step(a):
        mu.grad = sigma.grad = None
        actions = D.Normal(mu, sigma)
        loss = actions.log_prob(a).mean() + actions.log_prob(actions.sample()).mean() + actions.rsample().sum()
        loss.backward()
        return loss.detach()

    step(tg.randn(4))  # gradients are there from now on
    compiled = tg.compile(step)
    for _ in range(6):
        compiled(tg.randn(4))
    assert compiled.way == "replay" and len(compiled.specialisations) == 1
    made = len(c_calls)
    compiled(tg.ones(4))
    assert len(c_calls) == made + 1


@pytest.mark.long(every=5)
def test_numbers_as_parameters_are_data(tg):
    compiled = tg.compile(lambda x, scale: tg.distributions.Normal(0.5, scale).log_prob(x).sum())
    x = tg.randn(3)
    for i in range(6):
        scale = 1.0 + 0.1 * i
        wanted = tg.distributions.Normal(0.5, scale).log_prob(x).sum()
        assert tg.allclose(compiled(x, scale), wanted)
    assert compiled.way == "replay" and len(compiled.specialisations) == 1


def test_defaults_and_divergences_that_change_are_noticed(tg):
    D = tg.distributions

    class Mine(D.Normal):
        pass

    p, q = Mine(tg.zeros(2), tg.ones(2)), Mine(tg.ones(2), tg.ones(2))
    divergence = tg.compile(lambda x: D.kl_divergence(p, q) * x)
    checking = tg.compile(lambda x: D.Normal(0.0, x).scale * 1)
    one = tg.ones(2)
    for _ in range(3):
        assert tg.equal(divergence(one), tg.full((2,), 0.5))
        checking(one)
    D.register_kl(Mine, Mine)(lambda p, q: tg.full((2,), 7.0))
    assert tg.equal(divergence(one), tg.full((2,), 7.0))
    D.Distribution.set_default_validate_args(False)
    try:
        assert tg.equal(checking(-one), -one)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        checking(-one)


@pytest.mark.long(every=5)
def test_changes_of_captured_distributions_are_noticed(tg):
    D = tg.distributions
    prior, shift = D.Normal(tg.tensor(0.0), tg.tensor(1.0)), D.AffineTransform(1.0, 2.0)
    moved, classes = D.TransformedDistribution(prior, [shift]), D.Categorical(logits=tg.tensor([0.1, 0.5]))

    def step(x):
        return prior.log_prob(x) + moved.log_prob(x) + classes.probs.sum() + shift(x)

    def scale_up():
        with tg.no_grad():
            prior.scale.fill_(3.0)

    changes = [
        lambda: setattr(prior, "loc", tg.tensor(5.0)),
        scale_up,
        lambda: setattr(shift, "loc", 7.0),
        lambda: classes.probs,  # which is kept from now on
        lambda: setattr(moved, "transforms", [D.AffineTransform(0.0, 3.0)]),
        lambda: moved.transforms.append(D.AffineTransform(0.5, 1.0)),
        lambda: setattr(prior, "log_prob", lambda x: x * 0 + 1),
    ]
    compiled = tg.compile(step)
    for change in [lambda: None, *changes]:
        change()
        for _ in range(3):
            x = tg.randn(3)
            assert tg.allclose(compiled(x), step(x), rtol=1e-5)  # float32: other orders of operations


# --------------------------------------------------------------------------------------------- whole families, --long


def density_step(tg, name):
    made = builder(tg, name)

    def step(parameters, value):
        return cases.derivatives(tg, made(parameters).log_prob(value), parameters, "d")

    return step


@pytest.mark.long(every=11)
@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_densities_and_their_derivatives_of_two_orders(tg, name):
    scales = (1.0,) * 4 if cases.family(name) in OF_MATRICES else (1.0, 0.97, 0.95, 1.0)
    replayed = cases.family(name) not in OF_MATRICES
    assert_compiled(tg, lambda: density_step(tg, name), lambda scale: operands(tg, name, scale), replayed, scales)


def summary_step(tg, name):
    """Everything that a distribution knows of itself."""
    made = builder(tg, name)

    def step(parameters, value):
        distribution, found = made(parameters), {}
        for key in ("entropy", "perplexity"):
            found[key] = cases._asked(lambda key=key: getattr(distribution, key)())
        for key in cases.MOMENTS:
            found[key] = cases._asked(lambda key=key: getattr(distribution, key))
        found["cdf"] = cases._asked(lambda: distribution.cdf(value))
        return {key: x.detach() for key, x in found.items() if x is not None}

    return step


@pytest.mark.long(every=5)
@pytest.mark.parametrize("name", [name for name in cases.DISTRIBUTIONS if cases.family(name) not in OF_MATRICES])
def test_moments_entropies_and_cumulative_distributions(tg, name):
    replayed = not name.startswith("Binomial")  # whose entropy looks at the counts
    assert_compiled(tg, lambda: summary_step(tg, name), lambda scale: operands(tg, name, scale), replayed)


def sample_step(tg, name):
    made = builder(tg, name)

    def step(parameters):
        distribution = made(parameters)
        found = {"sample": distribution.sample((3,))}
        if distribution.has_rsample:
            drawn = distribution.rsample()
            found["rsample"] = drawn.detach()
            grads = tg.autograd.grad((drawn * drawn).sum(), parameters, allow_unused=True)
            found |= {f"d{i}": g for i, g in enumerate(grads) if g is not None}
        return found

    return step


@pytest.mark.long(every=5)
@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_samples_and_their_gradients(tg, name):
    scales = (1.0,) * 4 if cases.family(name) in OF_MATRICES else (1.0, 0.97, 0.95, 1.0)
    replayed = cases.family(name) not in OF_MATRICES | SAMPLED_IN_LOOPS or name in SAMPLED_BY_PRODUCTS
    assert_compiled(tg, lambda: sample_step(tg, name), lambda scale: operands(tg, name, scale)[:1], replayed, scales)


def divergence_step(tg, p, q):
    first = builder(tg, p, divergences.OPERANDS, 0)
    second = builder(tg, q, divergences.OPERANDS, 1)

    def step(of_p, of_q):
        value = tg.distributions.kl_divergence(first(of_p), second(of_q))
        found = {"value": value.detach()}
        if value.requires_grad:
            found |= cases.derivatives(tg, tg.where(tg.isfinite(value), value, 0.0), [*of_p, *of_q], "d")
        return found

    return step


@pytest.mark.long(every=29)
@pytest.mark.parametrize("p, q", divergences.pairs(), ids=[f"{p}-{q}" for p, q in divergences.pairs()])
def test_divergences(tg, p, q):
    def arguments(scale):
        of_p = operands(tg, p, 1.0, divergences.OPERANDS, (0,))[0]
        return of_p, operands(tg, q, 1.0, divergences.OPERANDS, (1,))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            divergence_step(tg, p, q)(*arguments(1.0))
        except NotImplementedError:
            return
        assert_compiled(tg, lambda: divergence_step(tg, p, q), arguments, not {p, q} & (OF_MATRICES | {"Binomial"}))
