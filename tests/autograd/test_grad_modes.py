"""no_grad, enable_grad, set_grad_enabled: as context managers, decorators and calls."""

import pytest


def tracked(tg, x):
    return (x * 2).requires_grad


@pytest.fixture
def x(tg):
    return tg.ones(2, requires_grad=True)


def test_no_grad_block_and_its_end(tg, x):
    with tg.no_grad():
        assert not tg.is_grad_enabled() and not tracked(tg, x)
    assert tg.is_grad_enabled() and tracked(tg, x)


def test_no_grad_as_decorator(tg, x):
    @tg.no_grad()
    def inside():
        """Documented."""
        return tracked(tg, x)

    assert inside() is False and inside.__doc__ == "Documented." and tracked(tg, x)


def test_no_grad_without_parentheses(tg, x):
    @tg.no_grad
    def inside():
        return tracked(tg, x)

    assert inside() is False


def test_enable_grad_inside_no_grad(tg, x):
    @tg.enable_grad()
    def inside():
        return tracked(tg, x)

    with tg.no_grad():
        with tg.enable_grad():
            assert tracked(tg, x)
        assert inside() and not tracked(tg, x)


@pytest.mark.parametrize("enabled", [True, False])
def test_set_grad_enabled_as_block_decorator_and_call(tg, x, enabled):
    with tg.set_grad_enabled(enabled):
        assert tracked(tg, x) is enabled
    assert tracked(tg, x)

    @tg.set_grad_enabled(enabled)
    def inside():
        return tracked(tg, x)

    assert inside() is enabled and tracked(tg, x)
    try:
        tg.set_grad_enabled(enabled)
        assert tracked(tg, x) is enabled
    finally:
        tg.set_grad_enabled(True)


def test_an_exception_restores_the_mode(tg):
    with pytest.raises(ZeroDivisionError), tg.no_grad():
        raise ZeroDivisionError
    assert tg.is_grad_enabled()


def test_generators_keep_their_own_mode(tg, x):
    @tg.no_grad()
    def batches():
        yield tracked(tg, x)
        yield tracked(tg, x)

    seen = []
    for flag in batches():
        seen.append(flag)
        assert tracked(tg, x)
    assert seen == [False, False]


MODES = {
    "no_grad": (lambda tg: tg.no_grad(), (False, False)),
    "enable_grad": (lambda tg: tg.enable_grad(), (True, False)),
    "set_grad_enabled": (lambda tg: tg.set_grad_enabled(False), (False, False)),
    "inference_mode": (lambda tg: tg.inference_mode(), (False, True)),
}
ENDS = {
    "close": lambda steps: steps.close(),
    "exhausted": lambda steps: list(steps),
    "break": lambda steps: next(iter(steps)),
    "throw": lambda steps: steps.throw(KeyError("thrown")),
    "send": lambda steps: steps.send("sent"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("mode", MODES)
def test_all_of_a_generator_runs_in_its_mode(tg, mode, end):
    """Its `except` and `finally`, too, however it ends."""
    make, inside = MODES[mode]
    seen = []

    def now():
        return tg.is_grad_enabled(), tg.is_inference_mode_enabled()

    @make(tg)
    def steps():
        try:
            seen.append(now())
            seen.append((yield 1) and now())
            yield 2
        except KeyError:
            seen.append(now())
            yield "caught"
        finally:
            seen.append(now())

    running = steps()
    with tg.set_grad_enabled(mode != "enable_grad"):
        outside = now()
        assert next(running) == 1
        found = ENDS[end](running)
        assert now() == outside
        del running, steps
        assert now() == outside
    assert {"throw": "caught", "send": 2, "break": 2, "exhausted": [2], "close": None}[end] == found
    assert set(seen) - {None} == {inside} and len(seen) >= 2


def test_errors_come_out_of_decorated_generators_as_they_are(tg):
    @tg.no_grad()
    def steps():
        try:
            yield 1
        except GeneratorExit:
            raise ValueError("while closing") from None
        return "result"

    running = steps()
    next(running)
    with pytest.raises(ValueError, match="while closing"):
        running.close()
    running = steps()
    next(running)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == "result"
    running, thrown = steps(), KeyError("thrown")
    next(running)
    with pytest.raises(KeyError) as caught:
        running.throw(thrown)
    assert caught.value is thrown and tg.is_grad_enabled()


@pytest.mark.parametrize("switch_on", [lambda tg: tg.enable_grad(), lambda tg: tg.set_grad_enabled(True)])
def test_nothing_is_recorded_in_inference_mode_whatever_the_grad_mode(tg, maybe_compile, x, switch_on):
    layer = tg.nn.Linear(2, 2)

    def step(x):
        with tg.inference_mode(), switch_on(tg):
            views = x[:1], x.view(2), tg.cat([x, x]), tg.where(x > 0, x, x)
            return [*views, layer(x), x * 2, tg.func.vmap(lambda e: e * 2)(x)]

    def failing(x):
        with tg.inference_mode(), switch_on(tg):
            layer(x).sum().backward()

    run = maybe_compile(step)
    for _ in range(3):
        assert [y.requires_grad for y in run(x)] == [True, True, *[False] * 5]
    run = maybe_compile(failing)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="does not require grad"):
            run(x)
    assert x.grad is None and tg.is_grad_enabled() and not tg.is_inference_mode_enabled()


def test_what_asks_grad_mode_alone_in_inference_mode(tg, x):
    """As in PyTorch: whether numpy() is allowed, and whether a Function is recorded."""

    class Double(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with tg.inference_mode():
        assert x.numpy().tolist() == [1.0, 1.0] and not Double.apply(x).requires_grad
        with tg.enable_grad():
            with pytest.raises(RuntimeError, match="numpy"):
                x.numpy()
            assert Double.apply(x).requires_grad and Double.apply(x).is_inference()


def test_an_outer_graph_is_differentiated_in_inference_mode(tg, x):
    loss = (x * x).sum()
    with tg.inference_mode(), tg.enable_grad():
        loss.backward()
        assert x.grad.is_inference()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("mode", ["x", 1, 0, None, 1.0])
def test_modes_are_booleans(tg, mode):
    name = type(mode).__name__
    with pytest.raises(TypeError, match=rf"set_grad_enabled\(\): .* must be bool, not {name}"):
        tg.set_grad_enabled(mode)
    with pytest.raises(TypeError, match=rf"set_multithreading_enabled\(\): .* must be bool, not {name}"):
        tg.autograd.set_multithreading_enabled(mode)
    assert tg.is_grad_enabled()
    with pytest.raises(TypeError, match="not callable"):
        tg.inference_mode(mode)()  # decorates whatever is no bool


def test_what_modes_keep(tg):
    assert tg.no_grad().prev is False and not hasattr(tg.enable_grad(), "prev")
    assert tg.inference_mode().mode is True and tg.inference_mode(False).mode is False
    with tg.set_grad_enabled(False) as _, tg.enable_grad():
        mode = tg.no_grad()
        with mode:
            assert mode.prev is True
    with tg.autograd.set_multithreading_enabled(False):
        assert tg.autograd.set_multithreading_enabled(False).prev is False
    assert tg.autograd.set_multithreading_enabled(True)(lambda: 3)() == 3


def test_leaves_made_under_no_grad_can_require_gradients(tg):
    with tg.no_grad():
        leaf = tg.ones(2, requires_grad=True)
        assert leaf.requires_grad and not (leaf * 2).requires_grad


def test_backward_works_under_no_grad(tg, x):
    loss = (x * x).sum()
    with tg.no_grad():
        loss.backward()
    assert x.grad.tolist() == [2.0, 2.0] and not x.grad.requires_grad


def test_inference_mode_does_not_track(tg, x):
    with tg.inference_mode():
        assert not tracked(tg, x)


def test_modes_inside_a_function_for_both_modes(tg, call):
    def flags(x):
        with tg.no_grad():
            constant = x * 3
            with tg.enable_grad():
                inner = x * 5
        (x * constant + inner).sum().backward()
        return constant.requires_grad, inner.requires_grad, x.grad

    constant, inner, gradient = call(flags, lambda: [tg.tensor([1.0, 2.0], requires_grad=True)])
    assert (constant, inner) == (False, True)
    assert gradient.tolist() == [8.0, 11.0]


def test_compiled_function_follows_the_mode_at_the_call(tg, maybe_compile, x):
    double = maybe_compile(lambda x: x * 2)
    for _ in range(3):
        assert double(x).requires_grad
        with tg.no_grad():
            assert not double(x).requires_grad


DETACH = {"detach()": lambda x: x.detach(), "data": lambda x: x.data, "x[0].detach()": lambda x: x[0].detach()}
WRITE = {
    "add_": lambda tg, x: x.add_(1),
    "copy_": lambda tg, x: x.copy_(tg.ones(2)),
    "out=": lambda tg, x: tg.add(tg.ones(x.shape), 1, out=x),
    "fill_": lambda tg, x: x.fill_(2),
    "uniform_": lambda tg, x: x.uniform_(),
    "masked_fill_": lambda tg, x: x.masked_fill_(x > 0, 2),
}


@pytest.mark.parametrize("write", WRITE)
def test_writes_to_detached_inference_tensors(tg, write):
    for detach in DETACH.values():
        with tg.inference_mode():
            x = tg.ones(2, 2)
            inside = detach(x)
        shown = detach(x)
        assert shown.is_inference() and shown._version == 0
        WRITE[write](tg, shown)
        assert shown.is_inference() and shown._version == 1 and x.flatten()[:2].tolist() == shown.flatten()[:2].tolist()
        for refusing in (x, x[0], shown[:], inside):
            with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
                WRITE[write](tg, refusing)
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            shown * tg.ones(2, requires_grad=True)


def test_data_that_is_set_brings_its_mode(tg):
    with tg.inference_mode():
        x, y = tg.ones(2), tg.ones(2)
    normal = tg.ones(2, requires_grad=True)
    x.data = tg.zeros(2)
    normal.data = y
    assert not x.is_inference() and normal.is_inference() and normal.requires_grad
    assert x.add_(1).tolist() == [1, 1]


def test_steps_that_write_to_detached_inference_tensors(tg, maybe_compile):
    with tg.inference_mode():
        kept = tg.zeros(2)

    @maybe_compile
    def step(x):
        kept.detach().add_(x)
        return kept * 2

    assert [step(tg.full((2,), i + 1.0)).tolist() for i in range(4)] == [[2, 2], [6, 6], [12, 12], [20, 20]]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_switch_says_what_it_does(tg, enabled):
    before = tg.is_grad_enabled()
    switch = tg.set_grad_enabled(enabled)
    tg.set_grad_enabled(before)
    assert switch.mode is enabled and repr(switch) == str(switch)
    assert repr(switch).endswith(f"grad_mode.set_grad_enabled(mode={enabled})")


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("compiled", [False, True])
def test_what_no_derivative_reads_may_be_an_inference_tensor(tg, compiled):
    F = tg.nn.functional
    with tg.inference_mode():
        b = tg.rand(3)
    x = tg.rand(4, 2)

    def run(w, call):
        y = call(w)
        (g,) = tg.autograd.grad((y * y).sum(), w, create_graph=True)
        return g, tg.autograd.grad(g.sum(), w)[0]

    calls = {
        "linear": (lambda w, b: F.linear(x, w, b), (3, 2)),
        "conv1d": (lambda w, b: F.conv1d(x.reshape(1, 2, 4), w, b), (3, 2, 1)),
        "bilinear": (lambda w, b: F.bilinear(x, x, w, b), (3, 2, 2)),
        "addmm": (lambda w, b: tg.addmm(b, x, w), (2, 3)),
        "sum": (lambda w, b: w + b, (3,)),
        "group_norm": (lambda w, b: F.group_norm(w[None], 1, None, b), (3, 4)),
    }
    for call, shape in calls.values():
        w = tg.rand(shape, requires_grad=True)
        step = tg.compile(run) if compiled else run
        for _ in range(2):
            found = step(w, lambda w, call=call: call(w, b))
            expected = run(w, lambda w, call=call: call(w, b.clone()))
            assert all(tg.allclose(f, e, rtol=1e-5) for f, e in zip(found, expected, strict=True))
    with tg.inference_mode():
        inputs = tg.rand(4, 2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        F.linear(inputs, tg.rand(3, 2, requires_grad=True), b)


def entered(tg, name):
    """By a call, as in notebooks: nobody keeps the object."""
    getattr(tg, name)().__enter__()


def test_a_mode_that_is_entered_by_a_call_lasts(tg, x):
    with tg.enable_grad():  # puts things back
        tg.no_grad().__enter__()
        assert not tg.is_grad_enabled() and not tracked(tg, x)
        tg.enable_grad().__enter__()
        assert tracked(tg, x)
        entered(tg, "no_grad")  # and so after the function is over
        assert not tracked(tg, x)
        tg.set_grad_enabled(True).__enter__()
        assert tracked(tg, x)


def test_inference_mode_ends_with_the_object_that_has_entered_it(tg):
    """As in PyTorch, unlike grad modes."""
    mode = tg.inference_mode()
    mode.__enter__()
    assert tg.is_inference_mode_enabled()
    del mode
    assert not tg.is_inference_mode_enabled() and tg.is_grad_enabled()
    entered(tg, "inference_mode")
    assert not tg.is_inference_mode_enabled() and tg.is_grad_enabled()


def test_hooks_that_are_entered_by_a_call_last(tg, x):
    packed = []
    with tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        tg.autograd.graph.saved_tensors_hooks(lambda x: packed.append(1) or x, lambda x: x).__enter__()
        x * x
    assert packed


def test_modes_that_are_left_once_more_and_without_having_been_entered(tg):
    mode = tg.no_grad()
    with tg.enable_grad():
        with mode:
            pass
        mode.__exit__(None, None, None)
        assert tg.is_grad_enabled()  # what was there before the block
        tg.no_grad().__exit__(None, None, None)
        assert not tg.is_grad_enabled()
        tg.set_grad_enabled(True).__exit__(None, None, None)
        assert not tg.is_grad_enabled()
        with pytest.raises(AttributeError, match="prev"):
            tg.enable_grad().__exit__(None, None, None)


def test_clones_of_modes_and_what_decorators_run_in(tg):
    with tg.no_grad().clone():
        assert not tg.is_grad_enabled()
    assert tg.set_grad_enabled(True).clone().mode is True

    @tg.inference_mode(False)
    def is_inference():
        return tg.is_inference_mode_enabled()

    with tg.inference_mode():
        assert is_inference() is False

    class Counted(tg.no_grad):
        clones = 0

        def clone(self):
            Counted.clones += 1
            return super().clone()

    assert Counted()(tg.is_grad_enabled)() is False and Counted.clones == 1


def test_a_decorated_class(tg):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @tg.no_grad()
        class Made:
            def __init__(self):
                self.is_enabled = tg.is_grad_enabled()

    assert Made().is_enabled is False
