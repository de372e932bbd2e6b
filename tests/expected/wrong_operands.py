"""What operators and functions say of operands that are no tensors; run by itself, it stores PyTorch's answers.

python tests/expected/wrong_operands.py
"""

import json
import operator
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")

ARITHMETIC = "add sub mul truediv floordiv mod pow matmul".split()
BITS = "and_ or_ xor lshift rshift".split()
COMPARISONS = "lt le gt ge eq ne".split()
UNARY = (
    "abs neg exp log sqrt sin cos tanh sigmoid relu floor ceil sum mean max min argmax sort flatten squeeze isnan sign "
    "round numel"
).split()
BINARY = (
    "add sub mul div pow matmul mm dot maximum minimum eq lt atan2 fmod remainder logical_and bitwise_and outer"
).split()
ACTIVATIONS = "relu gelu elu leaky_relu silu softplus logsigmoid dropout normalize sigmoid tanh hardtanh".split()
OF_TWO = ("mse_loss l1_loss cross_entropy nll_loss binary_cross_entropy smooth_l1_loss kl_div linear embedding").split()
SEQUENCES = "cat stack hstack vstack".split()


def wrong_operands(torch):
    """What takes the place of a tensor, by the name of its class."""
    values = ["a", None, [1.0], {}, object(), int, {1}, b"a", len, torch.nn.ReLU()]
    return {type(value).__name__: value for value in values}


def forms(torch):
    """By name: a call with one wrong operand."""
    x, n, F = torch.ones(2), torch.tensor([1, 2]), torch.nn.functional
    found = {}
    for name in [*ARITHMETIC, *BITS, *COMPARISONS]:
        tensor = n if name in BITS else x
        found |= _of_two(f"{name}: {{}}, {{}}", getattr(operator, name), tensor)
        if name not in COMPARISONS:
            found[f"i{name}: x, wrong"] = _in_place(getattr(operator, f"i{name.strip('_')}"), tensor)
    for module, prefix, names in ((torch, "", UNARY), (F, "F.", ACTIVATIONS), (torch, "", SEQUENCES)):
        found |= {f"{prefix}{name}(wrong)": getattr(module, name) for name in names}
    for module, prefix, names in ((torch, "", BINARY), (F, "F.", OF_TWO)):
        for name in names:
            found |= _of_two(f"{prefix}{name}({{}}, {{}})", getattr(module, name), x)
    found |= {f"x.{name}(wrong)": getattr(x, name) for name in BINARY if hasattr(x, name)}
    found |= {f"{name}([x, wrong])": _second_of_several(getattr(torch, name), x) for name in SEQUENCES}
    return found


def _of_two(title, function, x):
    return {
        title.format("x", "wrong"): lambda wrong: function(x, wrong),
        title.format("wrong", "x"): lambda wrong: function(wrong, x),
    }


def _in_place(function, x):
    return lambda wrong: function(x.clone(), wrong)


def _second_of_several(function, x):
    return lambda wrong: function([x, wrong])


def answer(call, wrong):
    """The class of the error and the beginning of its text, "" where there is a result."""
    try:
        call(wrong)
    except Exception as error:
        return [type(error).__name__, str(error).partition(", but expected")[0].partition("\n")[0]]
    return ["", ""]


def answers(torch):
    """By form: the answers for all wrong operands; one, with the class as ``{}``, where they differ in that only."""
    stored = {}
    for form, call in forms(torch).items():
        by_class = {name: answer(call, wrong) for name, wrong in wrong_operands(torch).items()}
        kinds = {json.dumps([kind, text.replace(name, "{}")]) for name, (kind, text) in by_class.items()}
        stored[form] = json.loads(kinds.pop()) if len(kinds) == 1 else by_class
    return stored


if __name__ == "__main__":
    import torch

    FILE.write_text(json.dumps(answers(torch), indent=1) + "\n", encoding="utf-8")
