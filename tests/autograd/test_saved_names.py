"""What nodes have saved under PyTorch's names: ``grad_fn._saved_self`` and the like."""

import pytest

#: expression -> attribute -> what it is, y being the result
SAVED = {
    "x * w": {"self": "x", "other": "w"},
    "x * w.detach()": {"self": "None", "other": "w"},
    "x / w": {"self": "x", "other": "w"},
    "x @ w": {"self": "x", "mat2": "w"},
    "x.detach() @ w": {"self": "x", "mat2": "None"},
    "L.bmm(x[None], w[None])": {"self": "x[None]", "mat2": "w[None]"},
    "F.linear(x, w, w[0])": {"mat1": "x", "mat2": "w.t()"},
    "x ** 3": {"self": "x", "exponent": "3"},
    "x.abs() ** w": {"self": "x.abs()", "exponent": "w", "result": "y"},
    "x.exp()": {"result": "y"},
    "x.tanh()": {"result": "y"},
    "x.sigmoid()": {"result": "y"},
    "x.relu()": {"result": "y"},
    "x.clone().relu_()": {"result": "y"},
    "F.softmax(x, 1)": {"result": "y"},
    "F.log_softmax(x, 1)": {"result": "y"},
    "x.sin()": {"self": "x"},
    "x.abs().log()": {"self": "x.abs()"},
    "x.abs().sqrt()": {"result": "y"},
    "F.gelu(x)": {"self": "x"},
    "F.silu(x)": {"self": "x"},
    "F.leaky_relu(x)": {"self": "x"},
    "x.clamp(0, 1)": {"self": "x"},
    "F.mse_loss(x, w)": {"self": "x", "target": "w"},
    "F.binary_cross_entropy_with_logits(x, w.detach())": {"self": "x", "target": "w"},
    "F.layer_norm(x, (3,))": {"input": "x"},
    "F.batch_norm(x, None, None, training=True)": {"input": "x"},
    "F.conv1d(x[None], w[None])": {"input": "x[None]", "weight": "w[None]"},
    "F.max_pool2d(x[None, None], 2)": {"self": "x[None, None]"},
    "L.where(x > 0, x, w)": {"condition": "x > 0"},
    "x.masked_fill(x > 0, 0.0)": {"mask": "x > 0"},
    "x.gather(1, i[:, None])": {"self": "x", "index": "i[:, None]"},
    "x.index_select(0, i)": {"index": "i"},
    "F.embedding(i, w)": {"indices": "i"},
    "x.logsumexp(1)": {"self": "x", "result": "y"},
    "x.std()": {"self": "x", "result": "y"},
    "x.prod()": {"self": "x", "result": "y"},
    "x.amax(1)": {"self": "x", "result": "y"},
    "x.var()": {"self": "x"},
}
NUMBERS = [[1.5, -2.0, 0.5], [3.0, 0.25, -1.0], [0.75, 2.5, -0.5]]


def scope_of(tg):
    x = tg.tensor(NUMBERS, requires_grad=True)
    w = tg.tensor(NUMBERS[::-1], requires_grad=True)
    return {"L": tg, "F": tg.nn.functional, "x": x, "w": w, "i": tg.tensor([0, 2, 1])}


def saved(node):
    """As programs that draw graphs find them."""
    return {name[7:]: getattr(node, name) for name in dir(node) if name.startswith("_saved_")}


def assert_saved(tg, expression, scope):
    y = eval(expression, scope)
    found, expected = saved(y.grad_fn), SAVED[expression]
    assert expected.keys() <= found.keys()
    for name, text in expected.items():
        value = eval(text, {**scope, "y": y})
        if value is None or not isinstance(value, tg.Tensor):
            assert found[name] == value
        else:
            assert tg.equal(found[name], value)
        if text in ("x", "w") and f"{text}.detach" not in expression:
            assert found[name] is scope[text]
        if text == "y":
            assert found[name].grad_fn is y.grad_fn


@pytest.mark.parametrize("expression", SAVED)
def test_what_is_saved(tg, expression):
    assert_saved(tg, expression, scope_of(tg))


def test_nothing_has_names_that_pytorch_does_not_have(tg):
    scope = scope_of(tg)
    for expression in SAVED:
        node = eval(expression, scope).grad_fn
        names = {name[7:] for name in dir(node) if name.startswith("_saved_")}
        assert tg.__name__ == "torch" or names == SAVED[expression].keys(), expression
    with pytest.raises(AttributeError, match="_saved_nothing"):
        node._saved_nothing  # noqa: B018


@pytest.mark.parametrize("expression", ["x * w", "x.exp()", "x.relu()", "F.softmax(x, 1)", "F.mse_loss(x, w)"])
def test_what_is_freed_is_an_error(tg, expression):
    y = eval(expression, scope_of(tg))
    y.sum().backward()
    name = next(iter(SAVED[expression]))
    with pytest.raises(RuntimeError, match="directly access saved tensors after they have already been freed"):
        getattr(y.grad_fn, f"_saved_{name}")


def test_what_is_written_to_is_an_error(tg):
    x = tg.ones(2, requires_grad=True) * 1
    y = x.sin()
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self  # noqa: B018


# ------------------------------------------------------------------------------------------------------------ compiled


@pytest.mark.parametrize("expression", SAVED)
def test_deferred_programs_see_the_same(expression):
    tg = pytest.importorskip("tracegrad")
    with tg.deferred():
        assert_saved(tg, expression, scope_of(tg))


def test_a_compiled_function_reads_what_eager_mode_reads():
    tg = pytest.importorskip("tracegrad")

    def read(x):
        y = (x * 3).tanh()
        return y + y.grad_fn._saved_result.detach()

    step = tg.compile(read)
    for number in (0.5, 1.0, 1.5):
        x = tg.full((2,), number, requires_grad=True)
        assert tg.equal(step(x), read(x))
    assert "_saved_result" in str(step.explain())


def test_a_result_is_kept_that_nobody_holds():
    tg = pytest.importorskip("tracegrad")
    node = tg.ones(2, requires_grad=True).relu().sum().grad_fn.next_functions[0][0]
    assert node._saved_result.tolist() == [1.0, 1.0]
