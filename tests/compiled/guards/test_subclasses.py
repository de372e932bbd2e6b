"""Subclasses of Tensor within compiled functions: class and numbers are those of eager mode, however a call is served.

A class has a say in what is computed of its tensors, which is Python: such calls are re-recorded, and `explain()` says
so. What only hands such tensors on, or asks for their class, is replayed.
"""

import pytest


def classes(tg):
    class Sub(tg.Tensor):
        pass

    class Logged(tg.Tensor):
        calls = []  # noqa: RUF012 (of the class, which is made for one test)

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    class Off(tg.Tensor):
        __torch_function__ = tg._C._disabled_torch_function_impl

    return Sub, Logged, Off


def noted(value):
    """Class, numbers and flags, of lists item by item."""
    if isinstance(value, (tuple, list)):
        return [noted(item) for item in value]
    if not hasattr(value, "ndarray") and not hasattr(value, "detach"):
        return value
    return type(value).__name__, value.detach().numpy().tolist(), value.requires_grad, value.is_leaf


#: Functions of `x`; `w` is a captured tensor of the subclass, `p` a plain one that requires grad.
COMPUTING = """
x * 2 + 1|x * w|w + 1|x[1:]|x.add_(1)|(x * p).sum()|F.relu(x)|tg.cat([x, w])|x.T|x.detach()|x.data
p.as_subclass(Sub) * 2|Sub([1., 2., 3.]) + x|nn.Parameter(x) * 2
x.clone()|list(x)|x.sum().item()|x.max(0)|l(x)|F.mse_loss(x, w)
x.__iadd__(w)|tg.autograd.grad((x * p * p).sum(), p)[0]|p.detach().copy_(x)|tg.zeros_like(x)|x if x.sum() > 4 else x * 2
p[w > 1]|tg.Tensor._make_subclass(Sub, p)|F.dropout(x, 0.)
"""
COMPUTING = [text for line in COMPUTING.strip().split("\n") for text in line.split("|")]
HANDED_ON = [
    "x", "(x, p * 2)", "p * 2 if isinstance(x, Sub) else p * 3", "p * len(type(x).__name__)", "[x, w]", "p * 2",
]  # fmt: skip
ARGUMENTS = ["plain", "Sub", "Off", "now and then"]


def step_of(tg, text, kinds):
    Sub, Logged, Off = kinds
    layer = tg.nn.Linear(3, 2)
    layer.load_state_dict(  # numbers whose products and sums are exact in any order
        {"weight": tg.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]]), "bias": tg.tensor([0.5, -0.25])}
    )
    names = {
        "tg": tg, "F": tg.nn.functional, "nn": tg.nn, "Sub": Sub, "l": layer,
        "w": tg.tensor([1.0, 2.0, 3.0]).as_subclass(Sub), "p": tg.tensor([0.5, 1.0, 2.0], requires_grad=True),
    }  # fmt: skip
    exec(f"def step(x):\n    return {text}", names)
    return names["step"]


def argument(tg, kind, kinds, i):
    x = tg.tensor([0.5, 1.5, 2.5]) * (1 + i % 3)
    named = dict(zip(("Sub", "Logged", "Off"), kinds, strict=True))
    kind = ("Sub", "plain", "Off")[i % 3] if kind == "now and then" else kind
    return x if kind == "plain" else x.as_subclass(named[kind])


def run(tg, text, kind, compiled, calls=6):
    kinds = classes(tg)
    step = step_of(tg, text, kinds)
    step = tg.compile(step) if compiled and tg.__name__ != "torch" else step
    seen = []
    for i in range(calls):
        x = argument(tg, kind, kinds, i)
        try:
            result = noted(step(x))
        except RuntimeError as error:
            result = type(error).__name__
        seen.append((result, noted(x), list(kinds[1].calls)))
    return seen, step


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("text", COMPUTING + HANDED_ON)
def test_class_and_numbers_are_eager(tg, text, kind):
    eager, _ = run(tg, text, kind, compiled=False)
    compiled, _ = run(tg, text, kind, compiled=True)
    assert compiled == eager


def test_what_computes_is_re_recorded_with_a_reason(tg):
    if tg.__name__ == "torch":
        pytest.skip("explain() is tracegrad's")
    for text in COMPUTING:
        _, step = run(tg, text, "Sub", compiled=True)
        assert step.way == "re-record", text
        assert "__torch_function__" in step.explain() or "item" in text or "if" in text or "list" in text, (
            step.explain()
        )


def test_what_is_only_handed_on_is_replayed(tg):
    if tg.__name__ == "torch":
        pytest.skip("way is tracegrad's")
    for text in HANDED_ON:
        _, step = run(tg, text, "Sub", compiled=True)
        assert step.way == "replay", text


def test_a_class_of_its_own_hears_of_each_call(tg):
    eager, _ = run(tg, "F.relu(x * 2).sum() + x.mean()", "Logged", compiled=False)
    compiled, _ = run(tg, "F.relu(x * 2).sum() + x.mean()", "Logged", compiled=True)
    assert compiled == eager and len(eager[-1][-1]) > 6 * 5


def test_the_context_that_disables_counts_at_each_call(tg):
    """Recorded within `DisableTorchFunctionSubclass`, called outside of it."""
    Sub, _, _ = classes(tg)
    step = (lambda f: f) if tg.__name__ == "torch" else tg.compile
    step = step(lambda x: tg.exp(x) * 2)
    x, kinds = tg.ones(2).as_subclass(Sub), []
    for i in range(8):
        if i < 4:
            with tg._C.DisableTorchFunctionSubclass():
                kinds.append(type(step(x)).__name__)
        else:
            kinds.append(type(step(x)).__name__)
    assert kinds == ["Tensor"] * 4 + ["Sub"] * 4


def test_training_a_parameter_of_a_subclass(tg):
    """Module, loss, backward and optimizer on parameters and batches of a subclass."""

    def outcome(compiled):
        Sub, _, _ = classes(tg)
        tg.manual_seed(0)
        layer = tg.nn.Linear(3, 1)
        layer.weight = tg.nn.Parameter(tg.tensor([[0.5, -1.0, 2.0]]).as_subclass(Sub))
        optimizer = tg.optim.SGD(layer.parameters(), lr=0.125, momentum=0.5)

        def step(x, y):
            optimizer.zero_grad()
            loss = tg.nn.functional.mse_loss(layer(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = tg.compile(step) if compiled and tg.__name__ != "torch" else step
        xs = [tg.tensor([[1.0, i, 0.5], [i, 2.0, 1.0]]) for i in (0.0, 1.0, 2.0, 0.5, 1.5)]
        losses = [step(x.as_subclass(Sub) if i % 2 else x, tg.tensor([[1.0], [0.0]])) for i, x in enumerate(xs)]
        kinds = [type(t).__name__ for t in (*losses, layer.weight, layer.weight.grad, layer.bias)]
        return kinds, [float(loss) for loss in losses], layer.weight.detach().numpy().tolist()

    (kinds, losses, weight), (expected, *numbers) = outcome(True), outcome(False)
    assert kinds == expected == ["Sub"] * 6 + ["Tensor", "Parameter"]
    assert losses == pytest.approx(numbers[0], rel=1e-6)  # sums in another order
    assert weight[0] == pytest.approx(numbers[1][0], rel=1e-6)


def test_objects_that_are_no_tensors(tg):
    """``__torch_function__`` of a class of one's own is called at each call."""

    class Tagged:
        calls = 0

        def __init__(self, tensor):
            self.tensor = tensor

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls += 1
            return cls(func(*(a.tensor if isinstance(a, cls) else a for a in args), **(kwargs or {})))

    step = (lambda f: f) if tg.__name__ == "torch" else tg.compile
    step = step(lambda t, x: tg.add(tg.exp(t), x))
    for i in range(5):
        result = step(Tagged(tg.zeros(2)), tg.ones(2) * i)
        assert type(result) is Tagged and result.tensor.tolist() == [1.0 + i] * 2
    assert Tagged.calls == 10
