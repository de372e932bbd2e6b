"""``fused=True``: an optimizer's step as one program, and nothing else about it changed.

Each kind of optimizer goes through each of the events that may come between steps, fused and unfused side by side: the
same numbers, state, versions, objects. Gradients are given, so that the step is all that is computed.
"""

import copy
import pickle

import numpy as np
import pytest
from expected.compare import assert_close, load
from expected.optimizers import OPTIMIZERS, Problem, numbers

from tracegrad.compiler import pipeline

STORED = load("optimizers")
RTOL, ATOL = 1e-10, 1e-12  # of float64, as in test_optimizers.py
STEPS = 8
SHAPES = [(3, 4), (5,), ()]

KINDS = {
    **OPTIMIZERS,
    "sgd tiny": ("SGD", {"lr": 0.1, "weight_decay": 0.0, "foreach": False}),
    "adamw everything": ("AdamW", {"lr": 0.02, "amsgrad": True, "maximize": True, "betas": (0.7, 0.9), "eps": 1e-4}),
}


@pytest.fixture
def quickly_built(monkeypatch):
    """What the C compiler's optimiser makes of a program is not asked here, and takes most of the time."""
    flags = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)
    monkeypatch.setattr(pipeline, "FLAGS", flags)


class Training:
    """Parameters, their optimizer, and steps with given gradients."""

    def __init__(self, tg, kind, fused, dtype="float32"):
        self.tg, self.dtype, self.fused = tg, getattr(tg, dtype), fused
        self.parameters = [self.new_parameter(i, shape) for i, shape in enumerate(SHAPES)]
        name, options = OPTIMIZERS.get(kind) or KINDS[kind]
        self.make = lambda params: getattr(tg.optim, name)(params, fused=self.fused, **options)
        self.optimizer = self.make(self.parameters)
        self.results = []

    def new_parameter(self, seed, shape):
        return self.tg.nn.Parameter(self.tensor(numbers(int(np.prod(shape)), shape, seed)))

    def tensor(self, array):
        return self.tg.tensor(np.array(array), dtype=self.dtype)

    def give_gradients(self, i):
        for seed, p in enumerate(self.parameters):
            p.grad = self.tensor(numbers(p.numel(), tuple(p.shape), 0.7 * i + seed))

    def step(self, i):
        self.give_gradients(i)
        self.results.append(self.optimizer.step())

    def entries(self):
        return [(key, t) for p in self.parameters for key, t in self.optimizer.state.get(p, {}).items()]

    def tensors(self):
        return [*self.parameters, *(t for _, t in self.entries()), *(p.grad for p in self.parameters)]


# ------------------------------------------------------------------------------------------- what comes between steps


def nothing(run, i):
    run.step(i)


def missing_gradients(run, i):
    run.give_gradients(i)
    for p in run.parameters[i % 2 :: 2] if i in (1, 4, 5) else []:
        p.grad = None
    run.optimizer.step()


def no_gradients_at_all(run, i):
    run.give_gradients(i)
    if i in (0, 5):
        run.optimizer.zero_grad()
    run.optimizer.step()


def parameter_added(run, i):
    if i == 4:
        run.parameters.append(run.new_parameter(9, (2, 2)))
        run.optimizer.add_param_group({"params": [run.parameters[-1]], "lr": 0.03})
    run.step(i)


def rate_changed(run, i):
    for group in run.optimizer.param_groups:
        group["lr"] *= 0.8
    run.step(i)


def rate_is_a_tensor(run, i):
    if i == 0:
        run.optimizer.param_groups[0]["lr"] = run.tensor(0.05)
    with run.tg.no_grad():
        run.optimizer.param_groups[0]["lr"].mul_(0.9)
    run.step(i)


def decay_comes_and_goes(run, i):
    run.optimizer.param_groups[0]["weight_decay"] = (0.0, 0.1, 0.3)[i // 3]
    run.step(i)


def sign_changed(run, i):
    run.optimizer.param_groups[0]["maximize"] = i >= 4
    run.step(i)


def amsgrad_ends(run, i):
    if "amsgrad" in run.optimizer.param_groups[0] and i == 4:
        run.optimizer.param_groups[0]["amsgrad"] = False
    run.step(i)


def momentum_begins(run, i):
    if "momentum" in run.optimizer.param_groups[0] and i == 4:
        run.optimizer.param_groups[0]["momentum"] = 0.7
    run.step(i)


def closure(run, i):
    def compute():
        run.give_gradients(i)
        return i

    run.results.append(run.optimizer.step(compute))


def accumulated(run, i):
    run.optimizer.zero_grad(set_to_none=False)
    (run.parameters[0] * run.tensor(i + 1.0)).sum().backward()
    (run.parameters[2] * run.parameters[2]).sum().backward()
    run.optimizer.step()


def same_gradients(run, i):
    if i == 0:
        run.give_gradients(0)
    run.optimizer.step()


def strided_gradients(run, i):
    run.give_gradients(i)
    p, q = run.parameters[0], run.parameters[1]
    p.grad = run.tensor(numbers(12, (4, 3), i)).t()
    q.grad = run.tensor(0.5 * i).expand(5) if i % 2 else run.tensor(numbers(10, (10,), i))[::2]
    run.optimizer.step()


def shared_gradient(run, i):
    run.give_gradients(i)
    if i > 3:
        run.parameters[0].grad = run.parameters[0].detach()  # the parameter is its own gradient
    run.optimizer.step()


def other_memory(run, i):
    if i in (3, 5):
        run.parameters[1].data = run.tensor(numbers(5, (5,), i))
    run.step(i)


def parameters_seen_by_numpy(run, i):
    if i == 2:
        run.seen = run.parameters[0].detach().numpy()
    if i > 3:
        run.seen *= 0.5
    run.step(i)
    if i > 1:
        assert np.array_equal(run.seen, run.parameters[0].detach().numpy())


def loaded(run, i):
    if i == 4:
        run.optimizer.load_state_dict(copy.deepcopy(run.optimizer.state_dict()))
    run.step(i)


def continued_by_another(run, i):
    if i == 4:
        state = copy.deepcopy(run.optimizer.state_dict())
        run.optimizer = run.make(run.parameters)
        run.optimizer.load_state_dict(state)
    run.step(i)


def state_replaced(run, i):
    if i in (4, 5):
        for p in run.parameters:
            for key, value in run.optimizer.state[p].items():
                if key != "step":
                    run.optimizer.state[p][key] = value.detach().clone() * 0.5
    run.step(i)


def state_forgotten(run, i):
    if i == 5:
        run.optimizer.state.clear()
    run.step(i)


def copied(run, i):
    if i == 4:
        run.parameters, run.optimizer = copy.deepcopy((run.parameters, run.optimizer))
    run.step(i)


def copied_shallowly(run, i):
    if i == 4:
        left = run.optimizer
        run.optimizer = copy.copy(left)
        run.optimizer.param_groups = [dict(group, params=list(group["params"])) for group in left.param_groups]
        run.optimizer.param_groups[0]["lr"] = 0.3
    run.step(i)


def pickled(run, i):
    if i == 4:
        run.parameters, run.optimizer = pickle.loads(pickle.dumps((run.parameters, run.optimizer)))
    run.step(i)


def frozen(run, i):
    run.parameters[2].requires_grad_(i not in (3, 4))
    run.give_gradients(i)
    run.optimizer.step()


def under_no_grad(run, i):
    run.give_gradients(i)
    with run.tg.set_grad_enabled(i % 2 == 0):
        run.optimizer.step()


def hidden_step(run, i):
    if i == 3:
        original = run.optimizer.step
        run.optimizer.step = lambda: (run.results.append("hidden"), original())[1]
    run.step(i)


EVENTS = [
    nothing, missing_gradients, no_gradients_at_all, parameter_added, rate_changed, rate_is_a_tensor,
    decay_comes_and_goes, sign_changed, amsgrad_ends, momentum_begins, closure, accumulated, same_gradients,
    strided_gradients, shared_gradient, other_memory, parameters_seen_by_numpy, loaded, continued_by_another,
    state_replaced, state_forgotten, copied, copied_shallowly, pickled, frozen, under_no_grad, hidden_step,
]  # fmt: skip
# The kinds that between them use every option; the others are computed by the same code with other numbers.
FEW = ["sgd", "sgd everything", "sgd maximize", "adam", "adam amsgrad", "adamw everything"]
EVERY = [(event, kind) for event in EVENTS for kind in (KINDS if event is nothing else FEW)]
FAST = [(event, ("sgd everything", "adam amsgrad")[i % 2]) for i, event in enumerate(EVENTS)]


def assert_same_run(fused, plain):
    assert fused.results == plain.results
    assert [key for key, _ in fused.entries()] == [key for key, _ in plain.entries()]
    for one, other in zip(fused.tensors(), plain.tensors(), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_close(one, other)
            assert (one.dtype, one._version, one.requires_grad) == (other.dtype, other._version, other.requires_grad)
    one, other = ([{k: v for k, v in g.items() if k not in ("params", "fused")} for g in run.optimizer.param_groups]
                  for run in (fused, plain))  # fmt: skip
    assert repr(one) == repr(other)


def assert_same_objects(before, now):
    """Between two steps, what eager mode keeps as the same object is kept."""
    for (old, old_plain), (new, new_plain) in zip(before, now, strict=False):
        assert old is new or old_plain is not new_plain


MARKED = [pytest.param(*case, marks=() if case in FAST else pytest.mark.long(every=8)) for case in EVERY]


@pytest.mark.parametrize("event, kind", MARKED)
def test_fused_is_unfused(tg, quickly_built, event, kind):
    fused, plain = Training(tg, kind, True), Training(tg, kind, False)
    before = []
    for i in range(STEPS):
        event(fused, i)
        event(plain, i)
        assert_same_run(fused, plain)
        now = [(one, other) for (_, one), (_, other) in zip(fused.entries(), plain.entries(), strict=True)]
        assert_same_objects(before, now)
        before = now
    assert plain.optimizer.fused_step is None


@pytest.mark.parametrize(
    "kind", [kind if kind in FEW else pytest.param(kind, marks=pytest.mark.long(every=3)) for kind in OPTIMIZERS]
)
def test_stored_steps_of_pytorch(tg, quickly_built, kind):
    problem = Problem(tg)
    optimizer = problem.optimizer(kind)
    for group in optimizer.param_groups:
        group["fused"] = True
    losses = problem.run(problem.step_with(optimizer))
    assert optimizer.fused_step.way == "replay"
    np.testing.assert_allclose(losses, STORED[f"{kind}|losses"], rtol=RTOL, atol=ATOL)
    np.testing.assert_allclose(problem.parameters(), STORED[f"{kind}|parameters"], rtol=RTOL, atol=ATOL)


def test_changed_options_make_no_programs(tg, quickly_built):
    run = Training(tg, "adamw everything", True)
    for i in range(30):
        run.optimizer.param_groups[0].update(lr=0.1 / (i + 1), betas=(0.5 + i / 100, 0.9), eps=1e-8 * (i + 1))
        run.step(i)
    assert len(run.optimizer.fused_step.specialisations) == 1 and run.optimizer.fused_step.way == "replay"


def test_groups_of_which_one_is_not_fused(tg):
    run = Training(tg, "adam", True)
    run.parameters.append(run.new_parameter(9, (2, 2)))
    run.optimizer.add_param_group({"params": run.parameters[-1:], "fused": False})
    run.step(0)
    assert run.optimizer.fused_step is None


class Halving:
    """An optimizer of the user's."""

    def __new__(cls, tg, params, **defaults):
        class Own(tg.optim.Optimizer):
            def __init__(self, params, **defaults):
                super().__init__(params, defaults)
                self.seen = 0

            def update(self, p, gradient, state, options):
                self.seen += 1
                p.data.mul_(0.5).sub_(gradient)

        return Own(params, **defaults)


@pytest.mark.parametrize("fused", [None, True])
def test_optimizers_of_users(tg, quickly_built, fused):
    """They are fused where that is asked for; what Python does in them is done at each step."""
    run, plain = Training(tg, "sgd", False), Training(tg, "sgd", False)
    run.optimizer = Halving(tg, run.parameters, **({} if fused is None else {"fused": fused}))
    plain.optimizer = Halving(tg, plain.parameters)
    for i in range(STEPS):
        run.step(i)
        plain.step(i)
        assert_same_run(run, plain)
    assert run.optimizer.seen == plain.optimizer.seen
    assert (run.optimizer.fused_step is None) == (fused is None)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_choices_that_contradict_each_other(tg, name):
    make, w = getattr(tg.optim, name), [tg.nn.Parameter(tg.ones(1))]
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        make(w, lr=0.1, fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        make(w, lr=0.1, fused=True, differentiable=True)
    make(w, lr=0.1, fused=False, foreach=True, differentiable=True)
