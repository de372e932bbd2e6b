"""Every binary operator between a tensor and what stands beside tensors: arrays, numbers, lists."""

import json
import operator

import numpy as np

TENSORS = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
ARRAYS = (
    "bool_ uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 longdouble complex64 complex128"
).split()
OPERATORS = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le gt ge eq ne".split()


def operands():
    """(label, function that makes the operand)."""
    for name in ARRAYS:
        kind = getattr(np, name)
        yield f"array({name})", lambda kind=kind: np.array([1, 2], dtype=kind)
        yield f"0-d({name})", lambda kind=kind: np.array(2, dtype=kind)
        yield f"scalar({name})", lambda kind=kind: kind(2)
    for value in (True, 3, 2.5, 1j, [1, 2], (1, 2), None, "a"):
        yield repr(value), lambda value=value: list(value) if type(value) is list else value
    yield "dates", lambda: np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")
    yield "texts", lambda: np.array(["a", "b"])
    yield "objects", lambda: np.array([1, None], dtype=object)
    yield "date", lambda: np.datetime64("2020-01-01")


def cases(tg, tensors=TENSORS):
    """(label, function) for each type of tensor, operator, operand and side."""
    for dtype in tensors:
        for name in OPERATORS:
            apply, in_place = getattr(operator, name), getattr(operator, f"i{name.rstrip('_')}", None)
            for label, make in operands():
                yield f"{dtype} {name} {label}", (apply, tg, dtype, make, False)
                yield f"{label} {name} {dtype}", (apply, tg, dtype, make, True)
                if in_place is not None:
                    yield f"{dtype} {name}= {label}", (in_place, tg, dtype, make, False)
                    yield f"{label} {name}= {dtype}", (in_place, tg, dtype, make, True)


def _computed(apply, tg, dtype, make, reflected):
    tensor, other = tg.tensor([3, 1], dtype=getattr(tg, dtype)), make()
    return apply(other, tensor) if reflected else apply(tensor, other)


def rounded(value):
    """Floats to five digits, in nested lists."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, complex):
        return complex(rounded(value.real), rounded(value.imag))
    return float(f"{value:.5g}") if isinstance(value, float) else value


def described(value):
    """The class, type and numbers of a result."""
    if isinstance(value, (np.ndarray, np.generic)):
        kind = "array" if isinstance(value, np.ndarray) else "number"
        return f"{kind} {value.dtype} {rounded(value.tolist())}"
    if hasattr(value, "detach"):
        return f"Tensor {str(value.dtype).rpartition('.')[2]} {rounded(value.tolist())}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} {[described(item) for item in value]}"
    return f"{type(value).__name__} {value!r}"


def outcome(case):
    """The result, or the class of what is raised."""
    try:
        with np.errstate(all="ignore"):
            return described(_computed(*case))
    except TypeError:
        return "TypeError"  # numpy's is a class of its own
    except Exception as error:  # whatever is raised is the answer
        return type(error).__name__


def outcomes(tg):
    return {label: outcome(case) for label, case in cases(tg)}


def make(tg):
    """The distinct outcomes, and which of them each case has, in the order of `cases`."""
    found = list(outcomes(tg).values())
    distinct = sorted(set(found))
    places = {text: i for i, text in enumerate(distinct)}
    text = np.frombuffer(json.dumps(distinct).encode(), np.uint8)
    return {"outcomes": text, "index": np.array([places[text] for text in found], np.uint16)}


def stored_outcomes(tg, stored):
    """The stored outcomes by label."""
    distinct = json.loads(stored["outcomes"].tobytes())
    return {label: distinct[i] for (label, _), i in zip(cases(tg), stored["index"], strict=True)}
