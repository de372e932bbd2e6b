"""A small sample of each operator of PyTorch's operator database in each of the dtypes `EACH`, and in one of the rest,
which take turns, with PyTorch's answer.

Stored as a text of the calls and one array of bytes for the numbers of all tensors.
"""

import importlib
import json

import numpy as np

DTYPES = "float32 float64 int64 complex64 float32 bool uint8 float16 int16 bfloat16 complex128 int8 int32".split()
EACH = "float32 float64 int64 bool complex64 bfloat16".split()
MOST = 160  # numbers of a sample's tensors and of its results, each; the smallest sample is taken

#: Entries whose numbers are determined up to signs, that write their arguments, are NaN (differences.json), or take
#: lists and tuples as different things.
SKIPPED = frozenset(
    "__getitem__ linalg.eig linalg.eigh linalg.svd svd svd_lowrank pca_lowrank geqrf nn.functional.batch_norm "
    "matrix_exp".split()
)
#: Where PyTorch's numbers are wrong (differences.json).
WRONG = frozenset({"special_bessel_j0|float64", "special_bessel_j1|float64"})


class Unstorable(Exception):
    """A value that the text has no form for."""


class Numbers:
    """The bytes of all tensors, one behind the other."""

    def __init__(self):
        self.parts, self.size = [], 0

    def add(self, tensor):
        plain = tensor.detach().resolve_conj().resolve_neg()
        name = str(plain.dtype).rpartition(".")[2]
        array = (plain.float() if name == "bfloat16" else plain).contiguous().numpy()
        data = array.tobytes()
        self.parts.append(data)
        self.size += len(data)
        return {"t": [name, self.size - len(data), list(array.shape)]}


def written(value, numbers, torch):
    """`value` as JSON; Unstorable if it has no form."""
    if isinstance(value, torch.Tensor):
        return numbers.add(value)
    if isinstance(value, torch.dtype):
        return {"d": str(value).rpartition(".")[2]}
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, slice):
        return {"s": [written(x, numbers, torch) for x in (value.start, value.stop, value.step)]}
    if isinstance(value, (list, tuple)):
        return [written(x, numbers, torch) for x in value]
    if value is Ellipsis:
        return {"e": 0}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise Unstorable(type(value).__name__)


def read(value, data, tg):
    """The value of a text, with tracegrad's tensors."""
    if isinstance(value, list):
        return tuple(read(x, data, tg) for x in value)
    if not isinstance(value, dict):
        return value
    ((kind, of),) = value.items()
    if kind == "t":
        name, start, shape = of
        dtype = np.dtype("float32" if name == "bfloat16" else name)
        count = int(np.prod(shape))
        array = np.frombuffer(data, dtype, count, start).reshape(shape).copy()
        return tg.from_numpy(array).to(getattr(tg, name))
    if kind == "d":
        return getattr(tg, of)
    return {"c": lambda: complex(*of), "s": lambda: slice(*(read(x, data, tg) for x in of)), "e": lambda: ...}[kind]()


def _sample(torch, op, dtype, path, question, numbers):
    """The text of the smallest sample with results that can be stored, None if there is none."""
    conversion, results = (importlib.import_module(f"database.{name}") for name in ("conversion", "questions"))
    found = []
    for each in question.samples(False):
        tensors = conversion.tensors_in([each.input, each.args, each.kwargs])
        size = sum(x.numel() for x in tensors)
        if size > MOST or any(x.layout is not torch.strided for x in tensors):
            continue
        reference = results.Reference(question, op.op, each)
        answers = conversion.tensors_in(reference.value)
        if reference.error is None and reference.has_values and answers and sum(x.numel() for x in answers) <= MOST:
            found.append((-bool(size), size, len(found), each, reference.value))
    for *_, each, answer in sorted(found, key=lambda f: f[:3]):
        try:
            kwargs = {name: written(x, numbers, torch) for name, x in each.kwargs.items()}
            call = [written(x, numbers, torch) for x in (each.input, *each.args)]
            return [path, call, kwargs, [numbers.add(x) for x in conversion.tensors_in(answer)]]
        except Unstorable:
            continue
    return None


def _kept(torch, op, dtype, path, questions, numbers):
    """As `_sample`; where there is none, `numbers` is as it was."""
    before = numbers.size, len(numbers.parts)
    try:
        sample = _sample(torch, op, dtype, path, questions.Question(op, getattr(torch, dtype), 12), numbers)
    except Exception:
        sample = None
    if sample is None:
        numbers.size, numbers.parts[before[1] :] = before[0], []
    return sample


def make(torch):
    """The calls by entry and dtype, as text, and the bytes of their numbers."""
    judging, counterparts, questions = (
        importlib.import_module(f"database.{name}") for name in ("judging", "counterparts", "questions")
    )
    numbers, calls, turn = Numbers(), {}, 0
    for op in judging.entries():
        known = (f"torch.{op.name}", counterparts._paths().get(id(op.op), ""))
        path = next((p for p in known if _leads(p, op.op, counterparts)), "")
        if not path or op.name in SKIPPED:
            continue
        possible = [d for d in DTYPES if getattr(torch, d) in op.supported_dtypes("cpu")]
        turn += 1
        others = [d for d in possible if d not in EACH]
        wanted = [[d] for d in possible if d in EACH] + [others[turn % max(1, len(others)) :] + others]
        for dtypes in wanted:
            for dtype in dtypes:
                if f"{op.formatted_name}|{dtype}" in WRONG:
                    continue
                if (sample := _kept(torch, op, dtype, path, questions, numbers)) is not None:
                    calls[f"{op.formatted_name}|{dtype}"] = sample
                    break
    text = json.dumps(calls, separators=(",", ":")).encode()
    return {"calls": np.frombuffer(text, np.uint8), "numbers": np.frombuffer(b"".join(numbers.parts), np.uint8)}


def _leads(path, function, counterparts):
    try:
        return bool(path) and counterparts._resolved(path) is function
    except AttributeError:
        return False
