"""``_foreach_*``: the same as PyTorch's, or as a loop over the methods of Tensor, eagerly and compiled."""

import pytest

import tracegrad as tg
from tracegrad.functional.foreach import FORMS, FUNCTIONS

#: Arguments after the list of tensors: source text; `t` is this library or PyTorch, `y` another list. Of the
#: functions that are not here, none.
_NUMBERS = ["2", "[2., 3.]", "y", "2.5", "scalar=2", "other=y", "scalars=[2, 3.]"]
_TENSOR = ["t.tensor(2.)"]
ARGUMENTS = {
    "add": [*_NUMBERS, *_TENSOR, "y, alpha=2", "t.tensor(3.), alpha=0.5"],
    "sub": [*_NUMBERS, "y, alpha=2"],
    "mul": [*_NUMBERS, *_TENSOR],
    "div": [*_NUMBERS, *_TENSOR],
    **dict.fromkeys(("clamp_min", "clamp_max", "maximum", "minimum"), _NUMBERS),
    **dict.fromkeys(
        ("addcmul", "addcdiv"), ["y, y", "y, y, 2", "y, y, [2., 3.]", "y, y, t.tensor([2., 3.])", "y, y, value=0.5"]
    ),
    "lerp": ["y, 0.25", "y, y", "y, [0.25, 0.5]", "y, weight=0.5", "tensors1=y, weights=y"],
    "pow": ["2", "[2, 3]", "y", "exponent=0.5"],
    "copy_": ["[z * 2 for z in y]", "y, True"],
    "mm": ["y"],
    "norm": ["", "1", "float('inf')", "ord=3, dtype=t.float64"],
    "powsum": ["", "3", "ord=2"],
    "clone": ["", "memory_format=t.preserve_format"],
}
CALLS = [
    (name, arguments) for name in FORMS for arguments in ARGUMENTS.get(name, ARGUMENTS.get(name.rstrip("_"), [""]))
]
REFUSED = [
    "_foreach_add([], 1)",
    "_foreach_abs([])",
    "_foreach_zero_([])",
    "_foreach_norm([])",
    "_foreach_add(x, [x[0]])",
    "_foreach_add(x, [1.])",
    "_foreach_add(x, [])",
    "_foreach_add(x, t.ones(1))",
    "_foreach_mul(x, t.ones(2))",
    "_foreach_addcmul(x, x, x, t.tensor(2.))",
    "_foreach_addcmul(x, x, x, t.ones(3))",
    "_foreach_addcmul(x, x, x, [1, 2, 3])",
    "_foreach_addcmul(x, x, x[:1])",
    "_foreach_copy_(x, x[:1])",
    "_foreach_abs(t.ones(2, 2))",
    "_foreach_abs(3)",
    "_foreach_abs(y for y in x)",
    "_foreach_abs()",
    "_foreach_abs(x, x)",
    "_foreach_zero_(x, bad=1)",
    "_foreach_add(x, None)",
    "_foreach_add(x)",
]
SHORT = ("_foreach_add(x, None)", "_foreach_add(x)")  # refused, in PyTorch with a list of all forms


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", minversion="2.13")


def values(t):
    return [t.tensor([[0.5, 0.25], [0.75, 0.5]]), t.tensor([[0.125, 0.5], [0.25, 0.875]])]


def others(t):
    return [2 * x for x in reversed(values(t))]


def outcome(t, name, arguments, derived=True):
    """What the call returns and leaves, and the gradients through it."""
    leaves = [x.requires_grad_(derived) for x in values(t)]
    x = [leaf * 1 for leaf in leaves]
    returned = eval(f"t._foreach_{name}(x{', ' if arguments else ''}{arguments})", {"t": t, "x": x, "y": others(t)})
    results = x if returned is x else list(returned)
    if derived and name != "zero_":
        sum(r.double().sum() for r in results).backward()
    gradients = [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]
    return type(returned), returned is x, [(str(r.dtype).split(".")[-1], r.tolist()) for r in results], gradients


@pytest.mark.long(fast=1)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_functions_are_pytorch_s(torch, name, arguments):
    try:
        there, derived = outcome(torch, name, arguments), True
    except RuntimeError as error:  # of some there is no derivative in PyTorch, which is there here
        assert "is not implemented" in str(error)
        there, derived = outcome(torch, name, arguments, False), False
    here = outcome(tg, name, arguments, derived)
    assert here[:2] == there[:2]
    assert [kind for kind, _ in here[2]] == [kind for kind, _ in there[2]]
    torch.testing.assert_close(*[[torch.tensor(v) for _, v in o[2]] for o in (here, there)])
    torch.testing.assert_close(*[[torch.tensor(g if g else []) for g in o[3]] for o in (here, there)])


def test_compiled_functions_are_the_eager_ones():
    """All in one program, but for numbers in a tensor, which are read."""
    sources = [f"t._foreach_{name}(x, {arguments})" for name, arguments in CALLS if "t.tensor([" not in arguments]
    calls = [eval(f"lambda t, x, y: {source}") for source in sources]

    def step(first, second):
        return [list(call(tg, [first * 1, second * 1], [first * 2, second * 3])) for call in calls]

    eager = step(*values(tg))
    compiled = tg.compile(step)
    for _ in range(2):
        for got, expected in zip(compiled(*values(tg)), eager, strict=True):
            tg.testing.assert_close(got, expected)


def test_every_function_of_pytorch_s_is_there(torch):
    assert {name for name in dir(torch) if name.startswith("_foreach")} == set(FUNCTIONS)


@pytest.mark.long(fast=1)
@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused(torch, call):
    said = []
    for t in (tg, torch):
        with pytest.raises((TypeError, RuntimeError)) as caught:
            eval(f"t.{call}", {"t": t, "x": values(t)})
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1] or (call in SHORT and said[0][0] is said[1][0])


def test_a_number_to_the_power_of_each_tensor():
    powers = tg._foreach_pow(2.0, [tg.tensor([1.0, 2.0]), tg.tensor(3.0)])
    assert [p.tolist() for p in powers] == [[2.0, 4.0], 8.0]


def test_an_optimizer_s_step_written_with_them_is_replayed():
    w, b = tg.nn.Parameter(tg.ones(3)), tg.nn.Parameter(tg.ones(2))
    means = [tg.zeros(3), tg.zeros(2)]

    def step(x):
        ((w * x).sum() + (b * b).sum()).backward()
        with tg.no_grad():
            gradients = [w.grad, b.grad]
            tg._foreach_mul_(means, 0.5)
            tg._foreach_add_(means, gradients, alpha=0.5)
            tg._foreach_addcdiv_([w, b], means, tg._foreach_add(tg._foreach_abs(gradients), 1.0), value=-0.1)
        w.grad = b.grad = None
        return w.detach().clone(), b.detach().clone()

    compiled = tg.compile(step)
    state = [w, b, *means]
    start = [t.detach().clone() for t in state]
    expected = [step(tg.tensor([1.0, 2.0, 3.0]) * i) for i in range(4)]
    with tg.no_grad():
        tg._foreach_copy_(state, start)
    for i, outs in enumerate(expected):
        for got, want in zip(compiled(tg.tensor([1.0, 2.0, 3.0]) * i), outs, strict=True):
            tg.testing.assert_close(got, want, rtol=1e-6, atol=1e-7)
    assert len(compiled.specialisations) == 1, compiled.explain()
