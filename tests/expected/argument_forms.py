"""Numbers, types and names among arguments: what PyTorch makes of them.  python tests/expected/argument_forms.py

Written with PyTorch: for each expression [dtype, shape, numbers], or the class of its error.
"""

import json
from itertools import product
from pathlib import Path

STORED = Path(__file__).with_suffix(".json")

#: Operands by name: tensors of each kind of type, with axes and without.
OPERANDS = {
    "f": "torch.tensor([[0.5, -1.25], [2.0, 3.0]])",
    "d": "torch.tensor([[1.5, 0.25], [-2.0, 1.0]], dtype=torch.float64)",
    "h": "torch.tensor([[0.37, -1.1], [2.2, 9.5]], dtype=torch.float16)",
    "g": "torch.tensor([[0.37, -1.1], [2.2, 9.5]], dtype=torch.bfloat16)",
    "i": "torch.tensor([[3, -2], [1, 4]])",
    "u": "torch.tensor([[200, 2], [0, 77]], dtype=torch.uint8)",
    "s": "torch.tensor([[100, -2], [-99, 5]], dtype=torch.int8)",
    "b": "torch.tensor([[True, False], [False, True]])",
    "c": "torch.tensor([[1 + 2j, 0.5], [-1j, 2]])",
    "f0": "torch.tensor(1.5)",
    "d0": "torch.tensor(2.5, dtype=torch.float64)",
    "i0": "torch.tensor(3)",
    "n": "torch.tensor([1, 0])",
    "t": "torch.arange(12.0).reshape(2, 3, 2)",
}
FACTORS = ("2", "-1", "1.5", "True", "2j")


def sums():
    """The factor of a sum has no say in its type, and is one of that type."""
    for (x, y), factor in product(product("fdhiubc", ("f", "d", "g", "i", "s", "b", "f0", "d0", "i0")), FACTORS):
        name = ("add", "sub", "rsub")[(len(x + y) + ord(x) + ord(y[0]) + len(factor)) % 3]
        yield f"torch.{name}({x}, {y}, alpha={factor})"
    for x, y, factor in product("fihub", ("2", "1.5", "True"), ("2", "1.5")):
        yield from (f"torch.add({x}, {y}, {factor})", f"{x}.sub({y}, {factor})", f"torch.rsub({x}, {y}, {factor})")
    for name, x, factor in product(("addcmul", "addcdiv"), "fhic", ("2", "2.9", "-0.5", "1j")):
        yield from (f"{x}.{name}({x}, i, value={factor})", f"torch.{name}(i, {x}, f, value={factor})")
    for x, factor in product("fiu", ("2", "2.5")):
        yield f"{x}.index_add(0, n, {x}, alpha={factor})"


def types():
    """A dtype may be one of Python's types, and what is none is refused."""
    calls = [
        *("sum(f, dtype={})", "nansum(f, dtype={})", "nanmean(f, dtype={})", "prod(f, dtype={})", "mean(f, dtype={})"),
        *("linalg.vector_norm(f, dtype={})", "linalg.norm(f, dtype={})", "linalg.matrix_norm(f, dtype={})"),
        *(
            "softmax(f, 1, dtype={})",
            "log_softmax(f, 1, dtype={})",
            "cumsum(f, 1, dtype={})",
            "fft.fftfreq(3, dtype={})",
        ),
        *("hann_window(4, dtype={})", "hamming_window(4, dtype={})", "kaiser_window(4, dtype={})", "eye(2, dtype={})"),
        *("full_like(f, 2, dtype={})", "can_cast({}, torch.int32)", "promote_types({}, torch.int32)"),
    ]
    for call, given in product(calls, ("float", "torch.float64", "'x'")):
        yield f"torch.{call.format(given)}"
    yield from (
        "d.view(float)",
        "d.view(int)",
        "u.view(bool)",
        "torch.nansum(f, dtype=bool)",
        "torch.nansum(f, dtype=int)",
    )
    for name, extra in product(("hann_window", "bartlett_window", "fft.fftfreq"), ("layout=torch.strided", "layout=3")):
        yield f"torch.{name}(4, {extra})"
    yield from ("torch.blackman_window(4, pin_memory=False)", "torch.fft.rfftfreq(-1)", "torch.fft.fftfreq(-1)")
    for name, ends in product(("linspace", "logspace"), ("1j, 2, 3", "0, 1j, 1", "0, 1j, 3, dtype=torch.float64")):
        yield f"torch.{name}({ends})"


def names():
    """Numbers in front of tensors that are named, and other names of arguments."""
    for name, named in (("pow", "exponent"), ("float_power", "exponent"), ("xlogy", "other"), ("remainder", "other")):
        yield from (f"torch.{name}(2.5, {named}=f)", f"torch.{name}(2.5, {named}=2)")
    yield from ("torch.isin(i, test_element=3)", "torch.isin(element=3, test_elements=i)", "f.clone().copy_(other=d)")
    yield from ("torch.linalg.lstsq(f, b=f)[0]", "torch.embedding(f, n)", "torch.embedding(weight=f, indices=n)")
    yield from ("torch.layer_norm(f, (2,), None, None, 1e-5, False)", "torch.linalg.vecdot(f, d)")
    for call in ("1.5, tensor=i", "scalar=1.5, tensor=i", "tensor=i, other=1.5", "scalar1=1, scalar2=1.5"):
        yield f"torch.zeros(1, dtype=torch.result_type({call}))"


def lists():
    """Axes that are none, and shapes, ranges and numbers that do not fit."""
    for name, dim in product(("all", "any", "sum", "mean", "amax"), ("[]", "()", "[], True")):
        yield f"torch.{name}({'b' if name[0] == 'a' and name[1] != 'm' else 'f'}, {dim})"
    for tensors, dim in product(("[f, n]", "[n, f]", "[f, n, f]", "[f, f0]", "[t, f]"), (0, 1)):
        yield from (
            f"torch.cat({tensors}, {dim})",
            f"torch.hstack({tensors})",
            f"torch.concatenate({tensors}, axis={dim})",
        )
    yield from (f"torch.round({x}, decimals={n})" for x, n in product("fhg", (-1, 2, 5, 7)))
    yield from (f"torch.histogram(f, 2, range={r})" for r in ([0.5], [0.0, 1.0], [0.0, 1.0, 2.0]))
    yield from ("torch.linalg.norm(f, 1j)", "torch.linalg.vector_norm(f, 1j)", "torch.renorm(f, 1j, 0, 1.0)")
    for call in ("lu_unpack(3, n)", "lu_unpack(f, 3)", "ormqr(f, 2.5, f)", "linalg.householder_product(f, tau=True)"):
        yield f"torch.{call}"


def written():
    """Complex numbers are written nowhere but among complex ones, whatever the index is."""
    for x, key, value in product("fihbc", ("0", "n", "b", "..., 1", "[0, 1], [1, 0]"), ("1j", "2 + 0j")):
        yield f"{x}.__setitem__(({key}), {value}) or {x}"


def expressions():
    return list(dict.fromkeys((*sums(), *types(), *names(), *lists(), *written())))


def outcome(torch, expression):
    """[dtype, shape, numbers as text] of what the expression gives, or the name of its error's class."""
    operands = {name: eval(text, {"torch": torch}) for name, text in OPERANDS.items()}
    try:
        value = eval(expression, {"torch": torch, **operands})
    except Exception as error:
        return type(error).__name__
    if not isinstance(value, torch.Tensor):
        return type(value).__name__ if isinstance(value, tuple) else str(value).rpartition(".")[2]
    wide = torch.complex128 if value.is_complex() else torch.float64
    return [str(value.dtype).rpartition(".")[2], list(value.shape), str(value.to(wide).reshape(-1).tolist())]


if __name__ == "__main__":
    import torch

    rows = [f"{json.dumps(e)}:{json.dumps(outcome(torch, e))}" for e in expressions()]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
