"""What is no tensor where one belongs is a TypeError in one wording, from all operators and functions, in each mode."""

import inspect
import json
import operator
import re

import pytest
from expected import wrong_operands

import tracegrad as tg
from tracegrad.tensors.operands import MATRICES, TENSORS

STORED = json.loads(wrong_operands.FILE.read_text(encoding="utf-8"))
FORMS = wrong_operands.forms(tg)
WRONG = wrong_operands.wrong_operands(tg)
#: Functions that PyTorch's messages call by the name of a kernel.
KERNELS = {"log_sigmoid": "logsigmoid", "cross_entropy_loss": "cross_entropy", "nll_loss_nd": "nll_loss"}
#: PyTorch's embedding hands its arguments on in another order.
EMBEDDING = {
    "embedding(): argument 'indices' (position 2)": "embedding(): argument 'input' (position 1)",
    "embedding(): argument 'weight' (position 1)": "embedding(): argument 'weight' (position 2)",
}
WORDING = re.compile(
    r"\w+\(\)(: | received an invalid combination of arguments - got \([\w, ]*\): )"
    r"argument '\w+'( \(position \d\))? must be (Tensor|tuple of Tensors), not \w+"
)


def expected(form, name):
    kind, text = STORED[form] if isinstance(STORED[form], list) else STORED[form][name]
    text = text.replace("{}", name)
    for within, argument in EMBEDDING.items():
        text = text.replace(within, argument)
    for kernel, function in KERNELS.items():
        text = text.replace(f"{kernel}()", f"{function}()")
    return kind, text


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("form", FORMS)
def test_wrong_operands(form, name):
    got_kind, got = wrong_operands.answer(FORMS[form], WRONG[name])
    kind, text = expected(form, name)
    if kind == "AttributeError":  # PyTorch's functions in Python: "'str' object has no attribute 'size'"
        assert got_kind == "TypeError" and WORDING.fullmatch(got)
    else:
        assert got_kind == kind
        assert got.startswith(text)


def public_functions():
    """All public functions whose first parameter is a tensor, and whose others have defaults."""
    for module in (tg, tg.nn.functional, tg.special, tg.linalg, tg.fft):
        for name, function in sorted(vars(module).items()):
            if name.startswith("_") or name == "is_tensor" or not inspect.isfunction(function):
                continue
            parameters = list(inspect.signature(function).parameters.values())
            needed = [p for p in parameters if p.default is p.empty and p.kind in (0, 1, 3)]
            first = parameters[0] if parameters else None
            if (
                first is not None
                and first.name in TENSORS | MATRICES
                and needed in ([], [first])
                and first.default is first.empty
            ):
                yield f"{module.__name__.removeprefix('tracegrad')}.{name}".strip("."), function


PUBLIC = dict(public_functions())
PUBLIC.pop("sparse_coo_tensor", None)  # whose first operand may be a size: PyTorch says that it is none


def test_the_family_is_large():
    assert len(PUBLIC) > 250


@pytest.mark.parametrize("name", PUBLIC)
def test_first_operands_of_all_public_functions(name):
    for wrong in ("a", [1.0], object()):
        with pytest.raises(TypeError) as caught:
            PUBLIC[name](wrong)
        assert f"must be Tensor, not {type(wrong).__name__}" in str(caught.value), (name, wrong)


@pytest.mark.parametrize("serve", [tg.compile, lambda f: tg.deferred()(f)], ids=["compiled", "deferred"])
@pytest.mark.parametrize("way", ["operator", "reflected", "function", "method", "sequence"])
def test_wrong_operands_in_programs(way, serve):
    """After calls that were served otherwise, the error is the eager one."""

    def step(x, y):
        if way == "operator":
            return x * y
        if way == "reflected":
            return operator.sub(y, x)
        if way == "function":
            return tg.maximum(x, y)
        if way == "method":
            return x.atan2(y)
        return tg.cat([x, y])

    program = serve(step)
    for i in range(4):
        program(tg.ones(2) * i, tg.ones(2))
    with pytest.raises(TypeError) as eager:
        step(tg.ones(2), "a")
    with pytest.raises(TypeError) as served:
        program(tg.ones(2), "a")
    assert str(served.value) == str(eager.value)
