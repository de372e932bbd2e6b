"""Running one expression with fixed inputs: its value and the gradients of all floating inputs."""

import numpy as np


def leaves(tg, arrays):
    """Fresh tensors of the arrays; floating ones require gradients."""
    return [tg.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays.values()]


def cotangent(tg, value):
    """Fixed weights, all different, so that a gradient that is transposed, flipped or summed wrongly shows."""
    weights = np.cos(np.arange(value.numel()) + 1.0)
    # From a list, since compiled functions refuse numpy arrays.
    return tg.tensor(weights.tolist(), dtype=value.dtype).reshape(value.shape)


def program(tg, expression, names):
    """A function of tensors, called as in `names`, that returns `value`, and `grad_<name>` where a gradient arrived."""

    def run(*tensors):
        inputs = dict(zip(names, tensors, strict=True))
        value = eval(expression, {"tg": tg, "F": tg.nn.functional, "nn": tg.nn, **inputs})
        if value.requires_grad:
            value.backward(cotangent(tg, value))
        gradients = {f"grad_{name}": tensor.grad for name, tensor in inputs.items() if tensor.grad is not None}
        return {"value": value.detach()} | gradients

    return run


def value_and_gradients(tg, expression, arrays):
    """The program's result for the arrays."""
    return program(tg, expression, arrays)(*leaves(tg, arrays))


def run_all(tg, expressions, arrays):
    """One flat dictionary of arrays for storing, keyed `expression|name`."""
    stored = {}
    for expression in expressions:
        for name, tensor in value_and_gradients(tg, expression, arrays).items():
            stored[f"{expression}|{name}"] = tensor.numpy()
    return stored


def stored_case(stored, expression):
    """The part of `run_all`'s dictionary that belongs to one expression."""
    prefix = expression + "|"
    return {key[len(prefix) :]: stored[key] for key in stored if key.startswith(prefix)}
