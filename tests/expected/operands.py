"""Calls of public functions and methods with each tensor among their arguments replaced by what is no tensor."""

import ast

import numpy as np

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor frac isfinite isinf isnan log log10 log1p "
    "log2 logical_not neg positive reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc "
    "absolute negative arctan clone ravel flatten t fliplr flipud nonzero all any argmax argmin max min mean std var "
    "sum prod norm median unique amax amin count_nonzero argsort sort nan_to_num squeeze trace diag diag_embed "
    "diagonal triu tril repeat_interleave numel is_floating_point zeros_like ones_like empty_like rand_like randn_like"
).split()
BINARY = (
    "add sub mul div pow eq ne lt le gt ge maximum minimum remainder fmod floor_divide atan2 hypot logaddexp xlogy "
    "float_power isclose allclose equal rsub subtract multiply divide true_divide greater less logical_and logical_or "
    "logical_xor"
).split()
#: Functions by the arguments that they are called with, from the names in `operands`.
CALLS = {
    "x": UNARY,
    "x, y": [*BINARY, "mm", "matmul", "max", "min", "expand_as", "view_as", "clamp_min", "clamp_max"],
    "k, k": ["bitwise_and", "bitwise_or", "bitwise_xor"],
    "k": ["bitwise_not"],
    "v, v": ["dot", "outer", "ger"],
    "x, v": ["mv"],
    "b, b": ["bmm"],
    "x, x, y": ["addmm", "addcmul", "addcdiv"],
    "v, x, v": ["addmv"],
    "b, b, b": ["baddbmm"],
    "x, y, 0.5": ["lerp"],
    "x, y, x": ["lerp"],
    "x, 0.0, 1.0": ["clamp", "clip"],
    "x, y, y": ["clamp"],
    "x > 0, x, y": ["where"],
    "x, 1, i": ["gather"],
    "x, 1, j": ["index_select"],
    "x, i": ["take"],
    "x, i, 1": ["take_along_dim"],
    "x, 1, i, x": ["scatter", "scatter_add"],
    "x, 0, j, x": ["index_add", "index_copy"],
    "x, 0, j, 2.0": ["index_fill"],
    "x, x > 0, 1.0": ["masked_fill"],
    "x, x > 0": ["masked_select"],
    "x, 0": ["cumsum", "cumprod", "logsumexp", "softmax", "log_softmax", "unbind", "unsqueeze", "flip", "roll"],
    "x, 1": ["topk", "chunk", "split"],
    "x, 0, 1": ["transpose", "swapaxes", "movedim", "select"],
    "x, 0, 0, 1": ["narrow"],
    "x, (4,)": ["reshape", "tile"],
    "x, (1, 0)": ["permute"],
    "[x, y]": ["cat", "stack", "hstack", "vstack", "concat"],
    "x, 2.0": ["full_like"],
}
FUNCTIONAL = {
    "x": (
        "relu relu6 leaky_relu elu selu celu gelu silu mish softplus logsigmoid hardtanh hardsigmoid hardswish "
        "softsign tanhshrink glu dropout normalize"
    ).split(),
    "x, 0": ["softmax", "log_softmax", "softmin"],
    "x, v": ["prelu"],
    "x, (2,)": ["layer_norm", "rms_norm"],
    "x, (2,), v, v": ["layer_norm"],
    "x, x": [
        "linear",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "kl_div",
        "poisson_nll_loss",
        "binary_cross_entropy_with_logits",
        "cosine_similarity",
        "pairwise_distance",
    ],
    "x, x, v": ["linear"],
    "p, p": ["binary_cross_entropy"],
    "x, j": ["cross_entropy", "nll_loss"],
    "x, j, v": ["cross_entropy", "nll_loss"],
    "j, x": ["embedding"],
    "j": ["one_hot"],
    "x, (1, 1)": ["pad"],
    "x, 0.1, 0.2": ["threshold"],
}
#: What stands in the place of a tensor.
WRONG = {
    "True": True,
    "3": 3,
    "2.5": 2.5,
    "None": None,
    "list": [1.0, 2.0],
    "tuple": (1, 2),
    "str": "a",
    "object": Ellipsis,
    "float32": np.float32(2),
    "float64": np.float64(2),
    "int32": np.int32(2),
    "bool_": np.bool_(True),
    "array": np.ones((2, 2), np.float32),
}


def operands(tg):
    return {
        "x": tg.tensor([[1.0, -2.0], [3.0, 0.5]]),
        "y": tg.tensor([[2.0, 0.5], [1.0, 4.0]]),
        "p": tg.tensor([[0.5, 0.25], [0.75, 0.125]]),
        "k": tg.tensor([[1, 2], [3, 0]]),
        "v": tg.tensor([0.5, 2.0]),
        "b": tg.ones(2, 2, 2),
        "i": tg.tensor([[0, 1], [1, 1]]),
        "j": tg.tensor([1, 0]),
    }


def cases(tg):
    """(label, function, arguments with one replaced) for functions, methods and ``nn.functional``."""
    known = operands(tg)
    for owner, name, table in ((tg, "tg", CALLS), (tg.Tensor, "Tensor", CALLS), (tg.nn.functional, "F", FUNCTIONAL)):
        for arguments, functions in table.items():
            parts = [ast.unparse(part) for part in ast.parse(f"({arguments},)", mode="eval").body.elts]
            values = [eval(part, dict(known)) for part in parts]
            for function in functions:
                if hasattr(owner, function):
                    called = getattr(owner, function)
                    yield from _replaced(f"{name}.{function}", called, parts, values, name == "Tensor")


def _replaced(label, function, parts, values, is_method):
    for place, value in enumerate(values):
        if not hasattr(value, "detach") or (is_method and place == 0):
            continue
        for wrong, operand in WRONG.items():
            shown = ", ".join([*parts[:place], wrong, *parts[place + 1 :]])
            yield f"{label}({shown})", function, [*values[:place], operand, *values[place + 1 :]]


def outcome(function, arguments):
    """The class of what is raised, or the type of the result."""
    try:
        result = function(*arguments)
    except Exception as error:  # whatever is raised is the answer
        return type(error).__name__
    return str(getattr(result, "dtype", type(result).__name__)).rpartition(".")[2]


def outcomes(tg):
    """The outcome of each case, by label."""
    return {label: outcome(function, arguments) for label, function, arguments in cases(tg)}


def make(tg):
    """What is stored: everything but TypeError, which is the rule."""
    return {label: found for label, found in outcomes(tg).items() if found != "TypeError"}
