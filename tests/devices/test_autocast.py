"""Autocast on the CPU: the types that functions compute in are PyTorch's, eager, compiled and deferred."""

import json
import math
import threading

import pytest
from expected.autocasting import STORED, answer, expressions, operands
from expected.compare import assert_close

import tracegrad as tg

WANTED = json.loads(STORED.read_text(encoding="utf-8"))
#: Twice the rounding of one element of the type: sums are taken in another order than PyTorch's.
TOLERANCE = {"bfloat16": 2**-7 * 2, "float16": 2**-10 * 2}
#: PyTorch has no such kernel; here the layer computes in float16.
MORE = {"float16 nn.LSTM(3,2)(c)[0]"}


@pytest.mark.filterwarnings("ignore")
def test_types_and_values_are_pytorchs():
    wrong = {}
    for key, wanted in WANTED.items():
        short, expression = key.split(" ", 1)
        found = answer(expression, tg, short)
        if isinstance(wanted, str) or isinstance(found, str):
            if found != wanted and key not in MORE:
                wrong[key] = (wanted, found)
            continue
        near = all(
            math.isclose(x, y, rel_tol=TOLERANCE[short], abs_tol=TOLERANCE[short]) or x != x
            for x, y in zip(found[1], wanted[1], strict=True)
        )
        if found[0] != wanted[0] or not near:
            wrong[key] = (wanted, found)
    assert wrong == {} and len(WANTED) > 300


#: Functions that compiled functions have, and whose types autocast changes.
_KINDS = (
    "a@b", "torch.mm(", "torch.bmm", "torch.addmm", "F.linear", "F.conv2d", "torch.cat([a,h])", "torch.stack([h,h])",
    "F.mse_loss(a,h)", "F.cross_entropy", "torch.einsum", "torch.prod(a)", "nn.LSTM(", "F.layer_norm(h,(3,),v",
    "F.scaled",
)  # fmt: skip
COMPILED = [expression for expression in expressions() if expression.startswith(_KINDS)]


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("way", ["compiled", "deferred"])
def test_in_compiled_functions(way):
    """All of them in one function: results, and gradients through them, are those of eager mode."""
    names = operands(tg, tg.bfloat16)

    def step(a):
        made = names | {"a": a}
        tg.manual_seed(0)
        with tg.autocast("cpu", dtype=tg.bfloat16):
            outs = [eval(expression, made) for expression in COMPILED]
        total = sum(out.float().sum() for out in outs)
        total.backward()
        return outs, a.grad

    def runs(function):
        found = []
        for scale in (1.0, 0.5, -1.0, 2.0):
            found.append(function((names["a"] * scale).requires_grad_()))
        return found

    wanted = runs(step)
    if way == "compiled":
        found = runs(tg.compile(step))
    else:
        with tg.deferred():
            found = runs(step)
    for (outs, grad), (own_outs, own_grad) in zip(wanted, found, strict=True):
        assert [out.dtype for out in outs] == [out.dtype for out in own_outs]
        for out, own in zip(outs, own_outs, strict=True):
            # a bfloat16 result that lies between two numbers may be rounded to the other one
            assert_close(own.float(), out.float(), rtol=2**-7, atol=1e-3)
        assert_close(own_grad, grad, rtol=2**-6, atol=2e-2)


def test_the_mode_is_a_guard_of_compiled_calls():
    double = tg.compile(lambda x, w: x @ w)
    x, w = tg.rand(3, 3), tg.rand(3, 3)
    for dtype in (None, tg.bfloat16, tg.float16, tg.bfloat16, None, None):
        with tg.autocast("cpu", dtype=dtype or tg.bfloat16, enabled=dtype is not None):
            assert double(x, w).dtype is (dtype or tg.float32)
    assert len(double.specialisations) == 3 and double.way == "replay"


def test_a_function_that_leaves_it_switched_on_is_not_replayed():
    def leave(x):
        tg.set_autocast_enabled("cpu", True)
        return x * 2

    leaving = tg.compile(leave)
    try:
        leaving(tg.ones(2))
    finally:
        tg.set_autocast_enabled("cpu", False)
    assert any("autocast" in reason for reason in leaving.reasons)


def test_blocks_nest_and_end():
    a = tg.ones(2, 2)
    with tg.autocast("cpu"):
        assert tg.is_autocast_enabled("cpu") and (a @ a).dtype is tg.bfloat16
        with tg.autocast("cpu", enabled=False):
            assert (a @ a).dtype is tg.float32
        with tg.autocast("cpu", dtype=tg.float16):
            assert (a @ a).dtype is tg.float16 and tg.get_autocast_dtype("cpu") is tg.float16
        assert (a @ a).dtype is tg.bfloat16
        with pytest.raises(ValueError), tg.autocast("cpu", dtype=tg.float16):
            raise ValueError
        assert (a @ a).dtype is tg.bfloat16
    assert (a @ a).dtype is tg.float32 and not tg.is_autocast_enabled("cpu")


def test_it_is_of_one_thread():
    a, found = tg.ones(2, 2), []
    with tg.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append((a @ a).dtype))
        thread.start()
        thread.join()
    assert found == [tg.float32]


def test_parameters_are_converted_once_and_again_after_a_write():
    linear, x = tg.nn.Linear(2, 2, bias=False), tg.ones(1, 2)
    with tg.autocast("cpu"):
        first = linear(x)
        assert first.grad_fn is not None
        (first.sum() + linear(x).sum()).backward()
        assert linear.weight.grad.dtype is tg.float32
        with tg.no_grad():
            linear.weight.fill_(3.0)
        assert linear(x).tolist() == [[6.0, 6.0]]


@pytest.mark.parametrize("kind", ["cpu", "cuda", "xpu"])
def test_the_usual_type_is_none_that_was_chosen(kind):
    """A thread that chooses it, or goes back to it, is served by the programs of threads that never chose."""
    usual, step = tg.get_autocast_dtype(kind), tg.compile(lambda x: (x * 2).sum())
    for _ in range(2):
        step(tg.ones(3))
    try:
        for dtype in (usual, tg.bfloat16 if usual is tg.float16 else tg.float16, usual):
            tg.set_autocast_dtype(kind, dtype)
            assert tg.get_autocast_dtype(kind) is dtype
    finally:
        tg.set_autocast_dtype(kind, usual)
    step(tg.ones(3))
    assert len(step.specialisations) == 1 and step.way == "replay"


def test_as_a_decorator():
    @tg.autocast("cpu")
    def product(a):
        return a @ a

    assert product(tg.ones(2, 2)).dtype is tg.bfloat16 and (tg.ones(2, 2) @ tg.ones(2, 2)).dtype is tg.float32


def test_functions_of_ones_own():
    class Product(tg.autograd.Function):
        @staticmethod
        @tg.amp.custom_fwd(device_type="cpu", cast_inputs=tg.float32)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @tg.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g @ x.T + x.T @ g

    x = tg.rand(2, 2).requires_grad_()
    with tg.autocast("cpu"):
        out = Product.apply(x.bfloat16())
    assert out.dtype is tg.float32
    out.sum().backward()
    assert x.grad is not None


def test_checkpoints_are_computed_again_in_the_same_mode():
    tg.manual_seed(0)
    model, x = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Tanh(), tg.nn.Linear(3, 3)), tg.rand(2, 3)
    gradients = []
    for run in (model, lambda x: tg.utils.checkpoint.checkpoint(model, x, use_reentrant=False)):
        model.zero_grad()
        with tg.autocast("cpu"):
            out = run(x)
        assert out.dtype is tg.bfloat16
        out.float().sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        assert one.tolist() == other.tolist()
