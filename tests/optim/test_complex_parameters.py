"""Complex parameters: six steps of each optimizer, eager and compiled. The numbers are PyTorch 2.13's, in float64."""

import io

import pytest

#: optimizer: (options, where six steps lead to)
STEPS = {
    "Adam": (
        {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1},
        [0.435027646052 + 1.404814056479j, 0.070086436682 + 0.825923952115j],
    ),
    "AdamW": ({"lr": 0.1}, [0.431282361953 + 1.394452009949j, 0.071540211407 + 0.823707267239j]),
    "SGD": (
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1},
        [0.044002059166 + 1.221877415612j, 0.043840775583 + 0.524361618788j],
    ),
    "RMSprop": (
        {"lr": 0.1, "centered": True, "momentum": 0.5},
        [0.332986769153 - 0.219639499435j, 0.27933970992 + 1.060349478017j],
    ),
    "Rprop": ({"lr": 0.1}, [0.25584 + 1.007008j, 0.24416 + 1.242992j]),
    "Adagrad": (
        {"lr": 0.1, "initial_accumulator_value": 0.5},
        [0.688032103967 + 1.648447223716j, -0.182150086321 + 0.575413850676j],
    ),
    "Adadelta": ({}, [0.980356744894 + 1.980203042464j, -0.480329913613 + 0.269709788653j]),
    "Adamax": ({"lr": 0.1}, [0.530782696291 + 1.436985826707j, -0.018229341602 + 0.748352330846j]),
    "NAdam": ({"lr": 0.1}, [0.596701577024 + 1.536962706569j, -0.087767477073 + 0.672888759557j]),
    "RAdam": ({"lr": 0.1}, [0.189146685453 - 0.77541725789j, 0.319004906545 + 1.240584734044j]),
    "ASGD": ({"lr": 0.1, "t0": 0.0}, [0.29022044025 - 0.09999900001j, 0.196942541076 + 0.9999900001j]),
    "LBFGS": ({"lr": 0.1, "max_iter": 2}, [0.762724503532 + 1.109191770477j, -0.229938427227 + 0.568145796258j]),
}


@pytest.fixture(autouse=True)
def in_float64(tg):
    tg.set_default_dtype(tg.float64)
    yield
    tg.set_default_dtype(tg.float32)


def made(tg, name):
    w = tg.nn.Parameter(tg.tensor([1 + 2j, -0.5 + 0.25j]))
    return w, getattr(tg.optim, name)([w], **STEPS[name][0])


def step_of(tg, w, optimizer):
    def closure():
        optimizer.zero_grad()
        loss = ((w - tg.tensor([0.3 - 0.1j, 0.2 + 1j])) * (1 + 2j)).abs().pow(2).sum() + (w.real**4).sum()
        loss.backward()
        return loss

    return lambda: optimizer.step(closure)


@pytest.mark.parametrize("name", STEPS)
def test_both_parts_are_updated_as_numbers_of_their_own(tg, maybe_compile, name):
    w, optimizer = made(tg, name)
    step = maybe_compile(step_of(tg, w, optimizer))
    for _ in range(6):
        step()
    assert w.tolist() == [pytest.approx(number, abs=1e-11) for number in STEPS[name][1]]  # stored with 12 digits


@pytest.mark.parametrize("name", [name for name in STEPS if name != "LBFGS"])
def test_state_is_complex_and_is_saved_and_loaded(tg, name):
    w, optimizer = made(tg, name)
    for _ in range(3):
        step_of(tg, w, optimizer)()
    kept = io.BytesIO()
    tg.save([w, optimizer.state_dict()], kept)
    kept.seek(0)
    w, optimizer = made(tg, name)
    numbers, state = tg.load(kept)
    w.data.copy_(numbers)
    optimizer.load_state_dict(state)
    for _ in range(3):
        step_of(tg, w, optimizer)()
    whole = [key for key, value in optimizer.state[w].items() if value.ndim]
    assert whole and all(optimizer.state[w][key].dtype is tg.complex128 for key in whole)
    assert w.tolist() == [pytest.approx(number, abs=1e-11) for number in STEPS[name][1]]


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_refused_in_pytorchs_words(tg, name):
    w = tg.nn.Parameter(tg.ones(2, 2, dtype=tg.complex64))
    optimizer = getattr(tg.optim, name)([w])
    w.grad = tg.ones_like(w)
    with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
        optimizer.step()
    assert w.tolist() == [[1, 1], [1, 1]]


def test_sparse_adam_refuses_them_when_it_is_made(tg):
    with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 1\]\]: SparseAdam does not support"):
        tg.optim.SparseAdam([tg.nn.Parameter(tg.ones(1)), tg.nn.Parameter(tg.ones(1, dtype=tg.complex64))])


@pytest.mark.parametrize("name", ["Adam", "NAdam", "ASGD", "Adafactor"])
@pytest.mark.parametrize("default, expected", [("float64", "float64"), ("float32", "float32"), ("bfloat16", "float32")])
def test_scalars_of_the_state_have_the_default_type(tg, name, default, expected):
    tg.set_default_dtype(getattr(tg, default))
    p = tg.nn.Parameter(tg.ones(2, dtype=tg.float32))
    optimizer = getattr(tg.optim, name)([p])
    p.grad = tg.ones_like(p)
    optimizer.step()
    scalars = [key for key in optimizer.scalars if key in optimizer.state[p]]
    assert scalars and all(optimizer.state[p][key].dtype is getattr(tg, expected) for key in scalars)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_moves_parameters_of_no_dimension_inside_a_compiled_function(tg, search):
    w = tg.nn.Parameter(tg.tensor(3.0))
    optimizer = tg.optim.LBFGS([w], lr=0.5, line_search_fn=search)

    @tg.compile
    def step():
        def closure():
            optimizer.zero_grad()
            loss = (w - 1) ** 2
            loss.backward()
            return loss

        return optimizer.step(closure)

    for _ in range(4):
        step()
    assert w.item() == pytest.approx(1.0, abs=1e-4)  # the gradient is below `tolerance_grad` by then
