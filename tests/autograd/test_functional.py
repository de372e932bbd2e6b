"""``autograd.functional`` with its options, ``grad`` with batched cotangents, anomaly mode, ``autograd.graph``.

The programs run with PyTorch as well (``TRACEGRAD_REFERENCE=torch``).
"""

import warnings

import numpy as np
import pytest


def values(x):
    return [values(each) for each in x] if isinstance(x, tuple) else x.detach().tolist()


def cubes(x, y):
    return (x**3).sum() + (x * y).sum()


def inputs(tg, requires_grad=False):
    return tuple(tg.tensor(x, dtype=tg.float64, requires_grad=requires_grad) for x in ([1.0, 2.0], [3.0, 5.0]))


@pytest.mark.parametrize("options", [{}, {"vectorize": True}, {"strict": True}])
def test_jacobian_and_hessian(tg, options):
    functional = tg.autograd.functional
    by_x, by_y = functional.jacobian(lambda x, y: x * y, inputs(tg), **options)
    assert values(by_x) == [[3.0, 0.0], [0.0, 5.0]] and values(by_y) == [[1.0, 0.0], [0.0, 2.0]]
    if "strict" not in options:
        (xx, xy), (yx, yy) = functional.hessian(cubes, inputs(tg), **options)
        assert values(xx) == [[6.0, 0.0], [0.0, 12.0]] and values(yy) == [[0.0, 0.0]] * 2
        assert values(xy) == values(yx) == [[1.0, 0.0], [0.0, 1.0]]


def rows_of(found):
    return [values(tuple(row)) for row in found]


def test_jacobian_and_hessian_in_forward_mode(tg):
    functional = tg.autograd.functional
    options = {"vectorize": True, "strategy": "forward-mode"}
    found = functional.jacobian(lambda x, y: (x * y, y.sum()), inputs(tg), **options)
    assert rows_of(found) == [[[[3.0, 0.0], [0.0, 5.0]], [[1.0, 0.0], [0.0, 2.0]]], [[0.0, 0.0], [1.0, 1.0]]]
    assert values(functional.jacobian(lambda x: tg.ones(2), inputs(tg)[0], **options)) == [[0.0, 0.0]] * 2
    assert functional.jacobian(lambda x: x * 2, tg.ones(0), **options).shape == (0, 0)
    options = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    found = functional.hessian(cubes, inputs(tg), **options)
    assert rows_of(found) == [
        [[[6.0, 0.0], [0.0, 12.0]], [[1.0, 0.0], [0.0, 1.0]]],
        [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0]] * 2],
    ]
    with pytest.raises(NotImplementedError, match="are not supported together"):
        functional.jacobian(lambda x: x, tg.ones(2), create_graph=True, vectorize=True, strategy="forward-mode")


def test_dual_tensors_ask_a_function_for_its_own_tangent(tg):
    class Own(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 10

    found = []
    for unit in ([1.0, 0.0], [0.0, 1.0]):
        with tg.autograd.forward_ad.dual_level():
            dual = tg.autograd.forward_ad.make_dual(tg.ones(2), tg.tensor(unit))
            found.append(values(tg.autograd.forward_ad.unpack_dual(Own.apply(dual)).tangent))
    assert found == [[10.0, 0.0], [0.0, 10.0]]


def test_products_with_the_hessian(tg):
    functional, x = tg.autograd.functional, inputs(tg)
    v = (tg.ones(2, dtype=tg.float64), tg.full((2,), 2.0, dtype=tg.float64))
    for product in (functional.vhp, functional.hvp):
        out, (of_x, of_y) = product(cubes, x, v)
        assert out.item() == 22.0 and values(of_x) == [8.0, 14.0] and values(of_y) == [1.0, 1.0]
    out, found = functional.hvp(lambda x: x**3, tg.tensor(2.0))
    assert found.item() == 12.0


def test_create_graph(tg):
    x = inputs(tg, requires_grad=True)
    _, (of_x, _) = tg.autograd.functional.vhp(cubes, x, inputs(tg), create_graph=True)
    of_x.sum().backward()
    assert values(x[0].grad) == [6.0, 12.0]


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda f, tg: f.jacobian(lambda x: tg.ones(2), tg.ones(2), strict=True), RuntimeError, "Output 0 of the user"),
        (lambda f, tg: f.jacobian(lambda x, y: x, (tg.ones(2), tg.ones(2)), strict=True), RuntimeError, "independent"),
        (
            lambda f, tg: f.jacobian(lambda x: x, tg.ones(2), strict=True, vectorize=True),
            RuntimeError,
            "not supported together",
        ),
        (lambda f, tg: f.jacobian(lambda x: x, tg.ones(2), strategy="forward-mode"), NotImplementedError, "vectorize"),
        (lambda f, tg: f.jacobian(lambda x: x, tg.ones(2), strategy="other"), AssertionError, "Expected strategy"),
        (lambda f, tg: f.vhp(lambda x: x, tg.ones(2), tg.ones(2)), RuntimeError, "single element"),
        (lambda f, tg: f.vjp(lambda x: x, tg.ones(2)), RuntimeError, "The vector v can only be None"),
        (lambda f, tg: f.vjp(lambda x: x, tg.ones(2), tg.ones(3)), RuntimeError, "invalid size"),
        (lambda f, tg: f.vjp(lambda x: 3, tg.ones(2)), TypeError, "must be either a Tensor or a tuple of Tensors"),
        (lambda f, tg: f.jacobian(lambda x: x, 3.0), TypeError, "must be either a Tensor or a tuple of Tensors"),
    ],
)
def test_wrong_calls(tg, call, error, words):
    with pytest.raises(error, match=words):
        call(tg.autograd.functional, tg)


@pytest.mark.parametrize("create_graph", [False, True])
def test_batched_cotangents(tg, create_graph):
    x, y = inputs(tg, requires_grad=True)
    batch = tg.eye(2, dtype=tg.float64)
    of_x, of_y = tg.autograd.grad(x * x * y, (x, y), batch, is_grads_batched=True, create_graph=create_graph)
    assert values(of_x) == [[6.0, 0.0], [0.0, 20.0]] and values(of_y) == [[1.0, 0.0], [0.0, 4.0]]
    assert of_x.requires_grad is create_graph


def test_only_inputs(tg):
    x = tg.tensor(2.0, requires_grad=True)
    assert tg.autograd.grad(x * x, x, None, None, False, True)[0].item() == 4.0
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        tg.autograd.grad(x * x, x, only_inputs=False)


# ------------------------------------------------------------------------------------------------------ anomaly mode


def quiet_anomaly(tg, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tg.autograd.detect_anomaly(**options)


def the_line_to_name(x):
    return x.sqrt()


def test_anomaly_mode_names_the_operation_and_the_line(tg):
    x = tg.tensor(0.0, requires_grad=True)
    (the_line_to_name(x) * 0).backward()
    assert np.isnan(x.grad.item())
    with quiet_anomaly(tg), pytest.warns(UserWarning, match="the_line_to_name"):
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            (the_line_to_name(x) * 0).backward()
    (the_line_to_name(x) * 0).backward()


def test_anomaly_mode_without_the_check(tg):
    x = tg.tensor(0.0, requires_grad=True)
    with quiet_anomaly(tg, check_nan=False):
        (x.sqrt() * 0).backward()
    assert np.isnan(x.grad.item())


def test_anomaly_mode_shows_where_an_error_comes_from(tg):
    class Failing(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("as asked")

    out = Failing.apply(tg.ones(1, requires_grad=True))
    with tg.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="No forward pass information"):
        with pytest.raises(ValueError, match="as asked"):
            out.backward()


def test_compiled_steps_notice_anomaly_mode(tg, maybe_compile):
    w = tg.tensor(1.0, requires_grad=True)

    def step(x):
        w.grad = None
        ((w * x).sqrt() * 0).backward()
        return w.grad.clone()

    step = maybe_compile(step)
    for _ in range(4):
        assert np.isnan(step(tg.tensor(0.0)).item()) and step(tg.tensor(1.0)).item() == 0.0
    with quiet_anomaly(tg), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            assert step(tg.tensor(1.0)).item() == 0.0
            with pytest.raises(RuntimeError, match="returned nan values"):
                step(tg.tensor(0.0))
    assert np.isnan(step(tg.tensor(0.0)).item())


# ------------------------------------------------------------------------------------------------------------- graph


@pytest.mark.parametrize("act", ["relu", "softmax", "layer"])
def test_hooks_of_what_is_saved(tg, maybe_compile, act):
    """Kept in another form, for primitives and composites alike: the same gradients, and each is unpacked."""
    functions = {
        "relu": lambda x: x.relu() * x,
        "softmax": lambda x: tg.softmax(x * x, -1),
        "layer": lambda x: tg.nn.functional.layer_norm(x * 2, (3,)).tanh(),
    }
    graph = tg.autograd.graph

    def step(x):
        with graph.saved_tensors_hooks(lambda kept: (kept * 2, 7), lambda kept: kept[0] / 2):
            y = functions[act](x)
        y.square().sum().backward()
        return y.detach()

    step = maybe_compile(step)
    for i in range(4):
        x, other = (tg.tensor([[1.0 + i, -2.0, 0.5]], requires_grad=True) for _ in range(2))
        y = step(x)
        expected = functions[act](other)
        expected.square().sum().backward()
        assert tg.allclose(y, expected) and tg.allclose(x.grad, other.grad, rtol=1e-5, atol=1e-7)


def test_second_derivatives_of_what_is_packed(tg):
    x = tg.tensor(2.0, requires_grad=True)
    seen = []
    with tg.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(0), t.item())[1], lambda t: tg.tensor(t)):
        y = x**3
    (first,) = tg.autograd.grad(y, x, create_graph=True)
    first.backward()
    assert seen and first.item() == 12.0 and x.grad.item() == 12.0


def test_disabled_hooks(tg):
    graph = tg.autograd.graph
    with graph.disable_saved_tensors_hooks("not now"), pytest.raises(RuntimeError, match="not now"):
        with graph.save_on_cpu():
            pass
    x = tg.tensor(2.0, requires_grad=True)
    with graph.save_on_cpu():
        y = x * x
    y.backward()
    assert x.grad.item() == 4.0


def test_writes_to_what_is_saved(tg):
    x = tg.tensor([2.0], requires_grad=True)
    with tg.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.add_(5)
        z.sum().backward()
    assert x.grad.item() == 4.0


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_of_several_gradients(tg, mode):
    a, b, c = (tg.tensor(x, requires_grad=True) for x in (2.0, 3.0, 5.0))
    seen = []
    handle = tg.autograd.graph.register_multi_grad_hook([a, b, c], seen.append, mode=mode)
    (a * b).backward()
    (a * b * c).backward()
    handle.remove()
    (a * b).backward()
    if mode == "all":
        assert [[None if g is None else g.item() for g in gs] for gs in seen] == [[3.0, 2.0, None], [15.0, 10.0, 6.0]]
    else:
        assert len(seen) == 2
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        tg.autograd.graph.register_multi_grad_hook([a], seen.append, mode="other")


def test_edges_and_versions(tg):
    graph, x = tg.autograd.graph, tg.tensor([2.0], requires_grad=True)
    y = x * 3
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    assert tg.autograd.grad((y * y).sum(), edge)[0].item() == 12.0
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(tg.ones(1))
    z = (y * y).sum()
    before = y._version
    graph.increment_version(y)
    assert y._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    assert isinstance(y.grad_fn, graph.Node)


def test_hooks_of_nodes_are_removed(tg):
    x, seen = tg.tensor(2.0, requires_grad=True), []
    y = x * 3
    handles = [
        y.grad_fn.register_prehook(lambda outputs: seen.append("pre")),
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append("post")),
    ]
    y.backward(retain_graph=True)
    for handle in handles:
        handle.remove()
    y.backward()
    assert seen == ["pre", "post"]


def test_profiles_are_empty(tg):
    with tg.autograd.profiler.profile(record_shapes=True) as found, tg.autograd.profiler.record_function("part"):
        tg.ones(2).sum()
    assert isinstance(found.key_averages().table(sort_by="cpu_time_total"), str)
