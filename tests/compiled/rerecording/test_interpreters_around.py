"""Interpreters that are put around the one that notes ops (slices of a batch, tangents, tensors without numbers): what
they hand to pieces of the library's work stands for something else, so that no such piece may be a program there.

Each piece beside each interpreter, after the piece has become a program at that very place.
"""

import contextlib

import pytest

import tracegrad as tg
from tracegrad import func, nn
from tracegrad.autograd import forward_ad
from tracegrad.nn import functional as F

ROWS, WIDTH, CALLS = 3, 4, 5


def of_dual_numbers(f, x):
    with forward_ad.dual_level():
        return tuple(forward_ad.unpack_dual(f(forward_ad.make_dual(x, tg.ones_like(x)))))


def batched_gradients(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    directions = tg.eye(y.numel(), dtype=x.dtype).view(y.numel(), *y.shape)
    return tg.autograd.grad(y, x, directions, is_grads_batched=True)


def mapped_gradients(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    directions = tg.eye(y.numel(), dtype=x.dtype).view(y.numel(), *y.shape)
    return func.vmap(lambda v: tg.autograd.grad(y, x, v, retain_graph=True)[0])(directions)


INTERPRETERS = {
    "vmap": lambda f, x: func.vmap(f)(x),
    "vmap along the last axis": lambda f, x: func.vmap(f, out_dims=-1)(x),
    "vmap in chunks": lambda f, x: func.vmap(f, chunk_size=2)(x),
    "vmap in vmap": lambda f, x: func.vmap(func.vmap(f))(tg.stack([x, 2 * x])),
    "vmap of grad": lambda f, x: func.vmap(func.grad(lambda row: f(row).sum()))(x),
    "grad": lambda f, x: func.grad(lambda a: f(a).square().sum())(x),
    "grad of vmap": lambda f, x: func.grad(lambda a: func.vmap(f)(a).square().sum())(x),
    "vjp": lambda f, x: func.vjp(f, x)[1](tg.ones_like(f(x))),
    "jvp": lambda f, x: func.jvp(f, (x,), (tg.ones_like(x),)),
    "linearize": lambda f, x: func.linearize(f, x)[1](tg.ones_like(x)),
    "jacrev": lambda f, x: func.jacrev(f)(x[0]),
    "jacfwd": lambda f, x: func.jacfwd(f)(x[0]),
    "hessian": lambda f, x: func.hessian(lambda a: f(a).square().sum())(x[0]),
    "dual level": of_dual_numbers,
    "functionalize": lambda f, x: func.functionalize(f)(x),
    "batched gradients": batched_gradients,
    "mapped gradients": mapped_gradients,
    "vectorized jacobian": lambda f, x: tg.autograd.functional.jacobian(f, x, vectorize=True),
    "no numbers": lambda f, x: tg.zeros(f(x.to("meta")).shape),
}


def layers():
    tg.manual_seed(1)
    return nn.Sequential(nn.Linear(WIDTH, 6), nn.Tanh(), nn.LayerNorm(6), nn.Linear(6, WIDTH)).double()


def module():
    net = layers()
    return lambda x: net.to("meta")(x) if x.is_meta else net(x)


def compiled_module():
    return tg.compile(layers())


def loss():
    goal = tg.linspace(0, 1, WIDTH, dtype=tg.float64)
    return lambda x: F.mse_loss(x, goal.to(x.device).expand(x.shape), reduction="none")


def entropy():
    return lambda x: F.cross_entropy(x.reshape(-1, WIDTH), tg.ones(x.numel() // WIDTH, dtype=tg.int64, device=x.device))


def attention():
    return lambda x: F.scaled_dot_product_attention(*[x.reshape(1, -1, WIDTH)] * 3).reshape(x.shape)


PIECES = {
    "softmax": lambda: lambda x: F.softmax(x, -1),
    "log_softmax": lambda: lambda x: F.log_softmax(x, -1),
    "layer_norm": lambda: lambda x: F.layer_norm(x, (WIDTH,)),
    "gelu": lambda: F.gelu,
    "norm": lambda: lambda x: tg.linalg.vector_norm(x, dim=-1),
    "module": module,
    "compiled module": compiled_module,
    "loss": loss,
    "entropy": entropy,
    "attention": attention,
}
MODULES = ("module", "compiled module")  # their parameters have numbers: they cannot be called without
PAIRS = [(one, other) for one in INTERPRETERS for other in PIECES if one != "no numbers" or other not in MODULES]


def leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [x for item in tree for x in leaves(item)]
    return [tree.tolist(), list(tree.stride())]


def outcomes(interpreter, piece, block, compile=lambda function: function):
    """What five calls give, and its strides: of the piece itself, with its gradient, and within the interpreter."""
    f, draws, found = PIECES[piece](), tg.Generator().manual_seed(2), []

    def step(x):
        plain = x.clone().requires_grad_()
        f(plain).sum().backward()
        number = float(plain.grad.sum())  # a look: Python runs at each call
        return number, f(x), INTERPRETERS[interpreter](f, x)

    step = compile(step)
    with block():
        for _ in range(CALLS):
            x = tg.randn(ROWS, WIDTH, dtype=tg.float64, generator=draws)
            number, *rest = step(x)
            found.append([number, *leaves(rest)])
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")  # of calls for each slice
@pytest.mark.parametrize(("interpreter", "piece"), PAIRS)
def test_a_piece_within_another_interpreter(interpreter, piece):
    expected = outcomes(interpreter, piece, contextlib.nullcontext)
    for found in (
        outcomes(interpreter, piece, tg.deferred),
        outcomes(interpreter, piece, contextlib.nullcontext, tg.compile),
    ):
        for actual, wanted in zip(found, expected, strict=True):
            for one, other in zip(actual, wanted, strict=True):
                # Sums in another order, in float64; derivatives divide by variances of three or four numbers.
                one, other = (tg.tensor(x, dtype=tg.float64) for x in (one, other))
                tg.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
