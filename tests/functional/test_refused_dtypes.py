"""The table of dtypes that functions do not take (`calling.kernels`): each row refuses, and nothing else is refused."""

import pytest

import tracegrad
from tracegrad.ops.types import ALL_DTYPES
from tracegrad.tensors.calling.kernels import KERNELS

#: How a function is called that takes more than `x`, ones (3, 3); None: what is left to PyTorch's database.
CALLS = {
    "logsigmoid": "nn.functional.logsigmoid(x)",
    "ctc_loss": None,  # its lengths and labels have types of their own
    "histogramdd": "histogramdd(x, 2)",
    "histogram": "histogram(x, 2)",
    "quantile": "quantile(x, 0.5)",
    "nanquantile": "nanquantile(x, 0.5)",
    "bincount": "bincount(x[0])",
    "bucketize": "bucketize(x, x[0])",
    "cummax": "cummax(x, 0)",
    "cummin": "cummin(x, 0)",
    "kthvalue": "kthvalue(x, 1)",
    "topk": "topk(x, 1)",
    "threshold": "nn.functional.threshold(x, 1, 2)",
    "scaled_dot_product_attention": "nn.functional.scaled_dot_product_attention(x, x, x)",
    "grid_sample": None,
    "multi_margin_loss": "nn.functional.multi_margin_loss(x, zeros(3, dtype=int64))",
    "multilabel_margin_loss": "nn.functional.multilabel_margin_loss(x, zeros(3, 3, dtype=int64))",
    "multilabel_soft_margin_loss": "nn.functional.multilabel_soft_margin_loss(x, x)",
    "cdist": "cdist(x, x)",
    "cross": "cross(x, x, dim=0)",
    "linalg.cross": "linalg.cross(x, x)",
    "linalg.vecdot": "linalg.vecdot(x, x)",
    "linalg.vander": "linalg.vander(x)",
    "linalg.solve": "linalg.solve(x, x)",
    "linalg.solve_ex": "linalg.solve_ex(x, x)",
    "linalg.tensorsolve": "linalg.tensorsolve(x, x[0])",
    "cholesky_solve": "cholesky_solve(x, x)",
    "glu": "nn.functional.glu(x[:2], 0)",
    **{f"max_pool{n}d": f"nn.functional.max_pool{n}d(x.reshape(1, {'1, ' * (n - 1)}9), {(1,) * n})" for n in (1, 2, 3)},
}


def call_of(name):
    """An expression that calls the function."""
    if name in CALLS or "pool" in name or name.startswith("conv_"):
        return CALLS.get(name)
    if name == "zeta" or "polynomial" in name:
        return f"special.{name}(x, x)"
    modules = {"": tracegrad, "special.": tracegrad.special, "nn.functional.": tracegrad.nn.functional}
    return next(f"{path}{name}(x)" for path, module in modules.items() if hasattr(module, name))


CASES = [name for name in KERNELS if call_of(name)]


@pytest.mark.long(fast=7)
@pytest.mark.parametrize("name", CASES)
def test_each_row_refuses_its_dtypes(tg, name):
    kernel, expression = KERNELS[name], call_of(name)
    for dtype in ALL_DTYPES:
        x = tg.ones(3, 3).to(dtype)
        if x.ndarray.dtype in kernel.refused:
            with pytest.raises(RuntimeError) as caught:
                eval(expression, vars(tg) | {"x": x})
            assert str(kernel.error(dtype)) == str(caught.value)


def test_operands_are_promoted_first(tg):
    x, half = tg.ones(2), tg.ones(2, dtype=tg.float16)
    assert tg.special.zeta(x + 1, half).dtype is tg.special.zeta(half + 1, x).dtype is tg.float32
    with pytest.raises(NotImplementedError, match="\"zeta_cpu\" not implemented for 'Half'"):
        tg.special.zeta(2, half)


def test_autocast_converts_first(tg):
    x = tg.ones(2, 2, dtype=tg.bfloat16)
    with tg.autocast("cpu"):
        assert tg.cdist(x, x).dtype is tg.float32
    with pytest.raises(NotImplementedError, match="\"cdist\" not implemented for 'BFloat16'"):
        tg.cdist(x, x)


@pytest.mark.parametrize("name", ["gelu", "cdist", "linalg.vecdot", "topk"])
def test_compiled_functions_refuse_the_same(tg, name):
    kernel = KERNELS[name]
    dtype = next(d for d in ALL_DTYPES if d.numpy in kernel.refused)
    step = tg.compile(lambda x: eval(call_of(name), vars(tg) | {"x": x}))
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            step(tg.ones(3, 3).to(dtype))
        assert str(kernel.error(dtype)) in str(caught.value)
