"""Composites in eager mode, which have a numpy form of their own, against the primitives they are made of.

The primitives run where an interpreter has been chosen; that is how a test gets them. Results may differ by roundings
of intermediate values: 16 ulp of the largest number of a tensor, since sums and products come in another order.
"""

import functools
import itertools
import warnings

import numpy as np
import pytest

from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.tape.fused import FusedNode
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make

ULPS = 16


def F(tg):
    return tg.nn.functional


def of_classes(tg, *parameters, **named):
    return tg.distributions.Categorical(*parameters, **named, validate_args=False)


# Name -> the shapes of its operands, and the function of library and operands.
COMPOSITES = {
    "relu": ([(3, 4)], lambda tg, x: F(tg).relu(x)),
    "gelu": ([(3, 4)], lambda tg, x: F(tg).gelu(x)),
    "gelu_tanh": ([(3, 4)], lambda tg, x: F(tg).gelu(x, approximate="tanh")),
    "silu": ([(3, 4)], lambda tg, x: F(tg).silu(x)),
    "leaky_relu": ([(3, 4)], lambda tg, x: F(tg).leaky_relu(x, 0.2)),
    "softplus": ([(3, 4)], lambda tg, x: F(tg).softplus(x)),
    "softplus_sharp": ([(3, 4)], lambda tg, x: F(tg).softplus(x, beta=3, threshold=5)),
    "mish": ([(3, 4)], lambda tg, x: F(tg).mish(x)),
    "mean": ([(3, 4)], lambda tg, x: (x * 1).mean()),
    "mean_of_a_leaf": ([(3, 4)], lambda tg, x: x.mean()),
    "mean_of_rows": ([(3, 4)], lambda tg, x: (x * 1).mean(1, keepdim=True)),
    "mean_of_two_axes": ([(2, 3, 4)], lambda tg, x: (x * 1).mean((0, -1))),
    "var": ([(3, 4)], lambda tg, x: x.var()),
    "var_of_rows": ([(3, 4)], lambda tg, x: x.var(1, keepdim=True, correction=0)),
    "std": ([(3, 4)], lambda tg, x: x.std()),
    "std_of_columns": ([(3, 4)], lambda tg, x: x.std(0)),
    "std_of_equal_rows": ([(1, 4)], lambda tg, x: x.expand(3, 4).std(0)),
    "norm": ([(3, 4)], lambda tg, x: x.norm()),
    "norm_of_rows": ([(3, 4)], lambda tg, x: x.norm(2, dim=1, keepdim=True)),
    "norm_of_zeros": ([(3, 4)], lambda tg, x: (x * 0).norm(dim=0)),
    "normalize": ([(3, 4)], lambda tg, x: F(tg).normalize(x, dim=1)),
    "softmax": ([(3, 4)], lambda tg, x: F(tg).softmax(x, 1)),
    "softmax_of_rows": ([(3, 4)], lambda tg, x: F(tg).softmax(x, 0)),
    "softmax_in_double": ([(3, 4)], lambda tg, x: F(tg).softmax(x, -1, dtype=tg.float64)),
    "log_softmax": ([(3, 4)], lambda tg, x: F(tg).log_softmax(x, 1)),
    "log_softmax_in_double": ([(3, 4)], lambda tg, x: F(tg).log_softmax(x, 0, dtype=tg.float64)),
    "layer_norm": ([(3, 4), (4,), (4,)], lambda tg, x, w, b: F(tg).layer_norm(x, (4,), w, b)),
    "layer_norm_of_two_axes": ([(2, 3, 4), (3, 4), (3, 4)], lambda tg, x, w, b: F(tg).layer_norm(x, (3, 4), w, b)),
    "layer_norm_without_bias": ([(3, 4), (4,)], lambda tg, x, w: F(tg).layer_norm(x, (4,), w)),
    "layer_norm_without_weight": ([(3, 4), (4,)], lambda tg, x, b: F(tg).layer_norm(x, (4,), None, b)),
    "layer_norm_alone": ([(3, 4)], lambda tg, x: F(tg).layer_norm(x, (4,))),
    "batch_norm": ([(3, 4), (4,), (4,)], lambda tg, x, w, b: F(tg).batch_norm(x, None, None, w, b, training=True)),
    "batch_norm_of_images": (
        [(2, 3, 2, 2), (3,), (3,)],
        lambda tg, x, w, b: F(tg).batch_norm(x, None, None, w, b, training=True),
    ),
    "batch_norm_alone": ([(3, 4)], lambda tg, x: F(tg).batch_norm(x, None, None, training=True)),
    "batch_norm_running": (
        [(2, 3, 4), (3,), (3,)],
        lambda tg, x, w, b: F(tg).batch_norm(
            x, tg.linspace(-1, 1, 3, dtype=x.dtype), tg.linspace(1, 2, 3, dtype=x.dtype), w, b
        ),
    ),
    "batch_norm_of_channels_without_bias": (
        [(2, 3, 4), (3,)],
        lambda tg, x, w: F(tg).batch_norm(
            x, tg.linspace(-1, 1, 3, dtype=x.dtype), tg.linspace(1, 2, 3, dtype=x.dtype), w
        ),
    ),
    "mse": ([(3, 4), (3, 4)], lambda tg, x, y: F(tg).mse_loss(x, y)),
    "mse_sum": ([(3, 4), (3, 4)], lambda tg, x, y: F(tg).mse_loss(x, y, reduction="sum")),
    "mse_none": ([(3, 4), (3, 4)], lambda tg, x, y: F(tg).mse_loss(x, y, reduction="none")),
    "mse_broadcast": ([(3, 4), (4,)], lambda tg, x, y: F(tg).mse_loss(x, y)),
    "l1_broadcast": ([(3, 4), (4,)], lambda tg, x, y: F(tg).l1_loss(x, y)),
    "smooth_l1_broadcast": ([(3, 4), (3, 1)], lambda tg, x, y: F(tg).smooth_l1_loss(x, y)),
    "huber_broadcast": ([(4,), (3, 4)], lambda tg, x, y: F(tg).huber_loss(x, y)),
    "bce_weighted": (
        [(3, 4), (3, 4)],
        lambda tg, x, y: F(tg).binary_cross_entropy(x.sigmoid(), y.sigmoid(), tg.ones(4, dtype=x.dtype) / 3),
    ),
    "bce_of_logits_weighted": (
        [(3, 4), (3, 4)],
        lambda tg, x, y: F(tg).binary_cross_entropy_with_logits(x, y, pos_weight=tg.ones(4, dtype=x.dtype) / 3),
    ),
    "nll": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 3, 1]))),
    "nll_sum": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 3, 1]), reduction="sum")),
    "nll_none": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 3, 1]), reduction="none")),
    "nll_ignoring": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, -100, 1]))),
    "nll_ignoring_a_class": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 2, 1]), ignore_index=2)),
    "nll_out_of_range": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 4, 1]))),
    "nll_negative": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, -1, 1]))),
    "nll_weighted": ([(3, 4)], lambda tg, x: F(tg).nll_loss(x, tg.tensor([0, 3, 1]), tg.ones(4, dtype=x.dtype))),
    "cross_entropy": ([(3, 4)], lambda tg, x: F(tg).cross_entropy(x, tg.tensor([0, 3, 1]))),
    "cross_entropy_smoothed": (
        [(3, 4)],
        lambda tg, x: F(tg).cross_entropy(x, tg.tensor([0, 3, 1]), label_smoothing=0.1),
    ),
    "cross_entropy_of_probabilities": ([(3, 4), (3, 4)], lambda tg, x, y: F(tg).cross_entropy(x, y)),
    "linear": ([(3, 4), (2, 4), (2,)], lambda tg, x, w, b: F(tg).linear(x, w, b)),
    "linear_of_a_batch": ([(2, 3, 4), (2, 4), (2,)], lambda tg, x, w, b: F(tg).linear(x, w, b)),
    "linear_misfit": ([(3, 4), (2, 5), (2,)], lambda tg, x, w, b: F(tg).linear(x, w, b)),
    "addmm": ([(3, 2), (3, 4), (4, 2)], lambda tg, b, x, y: tg.addmm(b, x, y)),
    "addmm_of_a_row": ([(1, 2), (3, 4), (4, 2)], lambda tg, b, x, y: tg.addmm(b, x, y)),
    "addmm_of_one": ([(1,), (3, 4), (4, 2)], lambda tg, b, x, y: tg.addmm(b, x, y)),
    "addmm_scaled": ([(2,), (3, 4), (4, 2)], lambda tg, b, x, y: tg.addmm(b, x, y, beta=0.5, alpha=2)),
    "addmm_misfit": ([(5,), (3, 4), (4, 2)], lambda tg, b, x, y: tg.addmm(b, x, y)),
    "shares": ([(3, 4)], lambda tg, x: of_classes(tg, x).probs),
    "clamped_log": ([(3, 4)], lambda tg, x: tg.distributions.utils.probs_to_logits(x)),
    "picked": ([(3, 4)], lambda tg, x: of_classes(tg, x).log_prob(tg.tensor([0, 3, 1]))),
    "picked_of_logits": ([(3, 4)], lambda tg, x: of_classes(tg, logits=x).log_prob(tg.tensor([0, 3, 1]))),
    "picked_out_of_range": ([(3, 4)], lambda tg, x: of_classes(tg, x).log_prob(tg.tensor([0, 4, 1]))),
    "picked_broadcast": ([(3, 4)], lambda tg, x: of_classes(tg, x).log_prob(tg.tensor([[1], [2]]))),
    "picked_of_vector": ([(4,)], lambda tg, x: of_classes(tg, x).log_prob(tg.tensor(2))),
    "entropy": ([(3, 4)], lambda tg, x: of_classes(tg, x).entropy()),
    "entropy_of_logits": ([(3, 4)], lambda tg, x: of_classes(tg, logits=x).entropy()),
    "twice_the_same": ([(3, 4)], lambda tg, x: F(tg).mse_loss(x, x * 2) + F(tg).mse_loss(x, x)),
    "one_after_another": (
        [(3, 4), (4, 4), (4,)],
        lambda tg, x, w, b: F(tg).softmax(F(tg).gelu(F(tg).layer_norm(F(tg).linear(x, w, b), (4,))), 1),
    ),
}
LOSSES = {
    "l1": lambda tg, x, y, **how: F(tg).l1_loss(x, y, **how),
    "smooth_l1": lambda tg, x, y, **how: F(tg).smooth_l1_loss(x, y, beta=0.7, **how),
    "smooth_l1_without_bend": lambda tg, x, y, **how: F(tg).smooth_l1_loss(x, y, beta=0, **how),
    "huber": lambda tg, x, y, **how: F(tg).huber_loss(x, y, delta=0.7, **how),
    "bce": lambda tg, x, y, **how: F(tg).binary_cross_entropy(x.sigmoid(), y.sigmoid(), **how),
    "bce_of_logits": lambda tg, x, y, **how: F(tg).binary_cross_entropy_with_logits(x, y, **how),
}
for loss, reduction in itertools.product(LOSSES, ("mean", "sum", "none")):
    COMPOSITES[f"{loss}_{reduction}"] = [(3, 4), (3, 4)], functools.partial(LOSSES[loss], reduction=reduction)
DTYPES = {
    "float32": ["float32"] * 3,
    "float64": ["float64"] * 3,
    "mixed": ["float32", "float64", "float32"],
    "int64": ["int64"] * 3,
}


def strided(tg, values):
    wide = np.repeat(values, 2, axis=-1)
    return tg.tensor(wide)[..., ::2]


def transposed(tg, values):
    return tg.tensor(np.ascontiguousarray(values.T)).permute(*reversed(range(values.ndim)))


def expanded(tg, values):
    return tg.tensor(values[:1]).expand(*values.shape)


def empty(tg, values):
    return tg.tensor(values[:0])


def corners(tg, values):
    """With numbers for which formulas are not the same as mathematics."""
    special = values.copy()
    special.flat[: min(6, special.size)] = [np.nan, np.inf, -np.inf, -0.0, 100, -100][: min(6, special.size)]
    return tg.tensor(special)


def number(tg, values):
    return tg.tensor(values.flat[0])


LAYOUTS = {
    "contiguous": lambda tg, values: tg.tensor(values),
    "strided": strided,
    "transposed": transposed,
    "expanded": expanded,
    "empty": empty,
    "corners": corners,
    "number": number,
}


def operands(tg, name, dtypes="float32", layout="contiguous", wanted=None):
    random = np.random.default_rng(len(name))
    made = []
    for i, shape in enumerate(COMPOSITES[name][0]):
        values = (3 * random.standard_normal(shape)).astype(DTYPES[dtypes][i])
        with np.errstate(invalid="ignore"):
            special = layout if not (layout == "corners" and dtypes == "int64") else "contiguous"
            x = LAYOUTS[special](tg, values)
        x = x.detach()
        if wanted is None or wanted[i]:
            x.requires_grad_(x.dtype.is_floating_point)
        made.append(x)
    return made


def titles(node, depth=2):
    if node is None:
        return None
    return [type(node).__name__, *(titles(n, depth - 1) for n, _ in node.next_functions if depth)]


def said(error):
    """The class and the beginning of what an error says, up to where names of operations may differ."""
    return type(error).__name__, str(error)[:60]


def run(tg, name, made, act):
    """What `act` finds of a composite, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return act(tg, COMPOSITES[name][1], made)
    except Exception as error:
        return said(error)


def both(tg, name, act, *args):
    """(numpy's form, the primitives)."""
    own = run(tg, name, operands(tg, name, *args), act)
    chain = interpreted(Tape(Evaluator(), make), run, tg, name, operands(tg, name, *args), act)
    return own, chain


def same(own, chain):
    assert type(own) is type(chain)
    if isinstance(own, (list, tuple)):
        assert len(own) == len(chain)
        for a, b in zip(own, chain, strict=True):
            same(a, b)
    elif isinstance(own, np.ndarray):
        assert own.dtype == chain.dtype and own.shape == chain.shape
        if own.dtype.kind != "f":
            assert (own == chain).all()
            return
        finite = np.isfinite(chain)
        assert ((np.isnan(own) == np.isnan(chain)) & (np.isposinf(own) == np.isposinf(chain))).all()
        size = np.abs(chain[finite]).max(initial=np.finfo(chain.dtype).tiny)
        assert np.abs(own[finite] - chain[finite]).max(initial=0) <= ULPS * np.spacing(size)
    else:
        assert own == chain


def array(x):
    return None if x is None else x.detach().numpy().copy()


def weights(tg, out):
    return tg.tensor(np.linspace(-1, 2, out.numel()).reshape(out.shape)).to(out.dtype)


def value_and_gradients(tg, function, made):
    out = function(tg, *made)
    found = [array(out), out.requires_grad, titles(out.grad_fn)]
    if out.requires_grad:
        out.backward(weights(tg, out))
        found += [array(x.grad) for x in made]
    return found


def gradients_of_gradients(tg, function, made):
    out = function(tg, *made)
    wanted = [x for x in made if x.requires_grad]
    first = tg.autograd.grad(out, wanted, weights(tg, out), create_graph=True, allow_unused=True)
    found = [array(out), *map(array, first)]
    total = sum((g * g).sum() for g in first if g is not None and g.requires_grad)
    if isinstance(total, tg.Tensor):
        found += map(array, tg.autograd.grad(total, wanted, allow_unused=True))
    return found


def gradient_penalty(tg, function, made):
    """The gradient by one operand, differentiated by all."""
    wanted, found = [x for x in made if x.requires_grad], []
    for x in wanted:
        out = function(tg, *made)
        (first,) = tg.autograd.grad(out, x, weights(tg, out), create_graph=True)
        found.append(array(first))
        if first.requires_grad:
            found += map(array, tg.autograd.grad((first * first).sum(), wanted, allow_unused=True))
    return found


def second_backward(tg, function, made):
    out = function(tg, *made)
    out.backward(weights(tg, out))
    out.backward(weights(tg, out))
    return [array(x.grad) for x in made]


def twice_with_retained_graph(tg, function, made):
    out = function(tg, *made)
    out.backward(weights(tg, out), retain_graph=True)
    out.backward(weights(tg, out))
    return [array(x.grad) for x in made]


def through_hooks(tg, function, made):
    seen = []
    inner = [x * 1 if x.requires_grad else x for x in made]
    for x in inner:
        if x.requires_grad:
            x.register_hook(lambda g: seen.append(array(g)) or g * 2)
    out = function(tg, *inner)
    out.register_hook(lambda g: seen.append(array(g)) or g * 3)
    out.grad_fn.register_prehook(lambda gs: seen.append(len(gs)))
    out.grad_fn.register_hook(lambda ours, theirs: seen.append(len(theirs)))
    out.retain_grad()
    out.backward(weights(tg, out))
    return [*seen, array(out.grad), *[array(x.grad) for x in made]]


def writing(place):
    """Write to an operand (or to the value: -1) between forward and backward."""

    def act(tg, function, made):
        inner = [x * 1 if x.requires_grad else x for x in made]
        out = function(tg, *inner)
        value = array(out)
        written = out if place < 0 else inner[place]
        with tg.no_grad():
            written.mul_(2)
        out.backward(weights(tg, out))
        return [value, *[array(x.grad) for x in made]]

    return act


def overwriting(place):
    """The same in a way that the tape follows."""

    def act(tg, function, made):
        inner = [x * 1 if x.requires_grad else x for x in made]
        out = function(tg, *inner)
        written = out if place < 0 else inner[place]
        written.mul_(2)
        ((out * weights(tg, out)).sum() + sum(x.sum() for x in inner)).backward()
        return [array(out), *[array(x.grad) for x in made]]

    return act


PATTERNS = [
    (name, pattern)
    for name, (shapes, _) in COMPOSITES.items()
    for pattern in itertools.product((0, 1), repeat=len(shapes))
]
#: Those whose arguments are left to the primitives.
GENERAL = {
    "nll_ignoring", "nll_ignoring_a_class", "nll_out_of_range", "nll_negative", "nll_weighted", "linear_misfit",
    "addmm_scaled", "addmm_misfit", "cross_entropy_smoothed", "cross_entropy_of_probabilities", "twice_the_same",
    "linear_of_a_batch", "mish", "mean_of_a_leaf", "normalize", "bce_weighted", "bce_of_logits_weighted", "l1_sum",
    "l1_none", "smooth_l1_without_bend_mean", "smooth_l1_without_bend_sum", "smooth_l1_without_bend_none",
    "picked_out_of_range", "picked_broadcast", "std_of_equal_rows",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_numpy_serves_plain_eager_mode(tg):
    """What the other tests compare are two ways, not one."""
    for name, (_, function) in COMPOSITES.items():
        if name not in GENERAL:
            assert isinstance(function(tg, *operands(tg, name)).grad_fn, FusedNode), name
            unfused = interpreted(Tape(Evaluator(), make), function, tg, *operands(tg, name))
            assert not isinstance(unfused.grad_fn, FusedNode), name


@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("dtypes", DTYPES)
def test_values_and_gradients(tg, name, dtypes):
    for layout in LAYOUTS:
        if (name, layout) == ("one_after_another", "expanded"):
            continue  # its rows are equal numbers, of which a layer norm makes nothing but roundings
        same(*both(tg, name, value_and_gradients, dtypes, layout))


@pytest.mark.parametrize(("name", "wanted"), PATTERNS)
def test_operands_that_require_gradients(tg, name, wanted):
    for act in (value_and_gradients, second_backward, twice_with_retained_graph):
        same(*both(tg, name, act, "float32", "contiguous", wanted))


@pytest.mark.parametrize(("name", "wanted"), [(n, p) for n, p in PATTERNS if any(p)])
def test_gradients_of_gradients(tg, name, wanted):
    for act in (gradients_of_gradients, gradient_penalty):
        same(*both(tg, name, act, "float64", "contiguous", wanted))


@pytest.mark.parametrize("name", COMPOSITES)
def test_hooks(tg, name):
    same(*both(tg, name, through_hooks))


@pytest.mark.parametrize(("name", "wanted"), [(n, p) for n, p in PATTERNS if any(p)])
@pytest.mark.parametrize("write", [writing, overwriting], ids=lambda write: write.__name__)
def test_writes_in_between(tg, name, wanted, write):
    for place in range(-1, len(wanted)):
        same(*both(tg, name, write(place), "float32", "contiguous", wanted))


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("function", ["relu6", "hardtanh"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_zeros_keep_their_signs_as_pytorchs(tg, function, dtype):
    def run(x):
        return getattr(F(tg), function)(x * 1)

    step = tg.compile(run)
    for size in (0, 1, 2, 7, 8, 9, 16, 33, 70):
        x = tg.full((2 * size,), -0.0, dtype=getattr(tg, dtype))
        assert np.signbit(run(x).float().numpy()).all() and np.signbit(run(x[::2]).float().numpy()).all()
        assert np.signbit(step(x).float().numpy()).all()
        assert not np.signbit(run(-x).float().numpy()).any() and not np.signbit(step(-x).float().numpy()).any()
    x = tg.full((), -0.0, dtype=getattr(tg, dtype))
    assert np.signbit(run(x).float().numpy())


def test_relu_gives_no_negative_zero(tg):
    for size in range(1, 70):
        assert not np.signbit(F(tg).relu(tg.full((size,), -0.0)).numpy()).any()
        assert not np.signbit(F(tg).relu(tg.full((2 * size,), -0.0)[::2]).numpy()).any()
