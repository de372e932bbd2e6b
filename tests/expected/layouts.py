"""Where results and gradients of PyTorch's operator database lie in memory, and which gradients have a history.

Up to two samples of each operator, with operands that lie row by row and with operands whose axes are turned, with
numbers that are exact in float16, in which they are stored. `facts` is what both libraries are asked.
"""

import importlib
import json
import warnings

import numpy as np

MOST = 150  # numbers of a sample's tensors
SAMPLES = 2  # of an operator, those with the most axes
#: Entries whose results are uninitialised, random, or not determined.
SKIPPED = frozenset(
    "empty new_empty empty_like empty_strided new_empty_strided resize_ resize_as_ svd_lowrank pca_lowrank randn_like "
    "rand_like randint_like bernoulli multinomial normal nn.functional.dropout nn.functional.dropout2d "
    "nn.functional.dropout3d nn.functional.alpha_dropout nn.functional.feature_alpha_dropout rand randn randint "
    "nn.functional.rrelu nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d "
    "nn.functional.multi_head_attention_forward nn.functional.scaled_dot_product_attention cauchy exponential "
    "geometric log_normal uniform randperm as_strided as_strided_scatter linalg.eig".split()
)


def _turned(x):
    """The same numbers in memory in which the order of the axes is the other way round."""
    order = tuple(reversed(range(x.ndim)))
    return np.ascontiguousarray(x.transpose(order)).transpose(order)


def read(value, data, library, turned):
    """The value of a text, with tensors of `library`."""
    if isinstance(value, list):
        return tuple(read(x, data, library, turned) for x in value)
    if not isinstance(value, dict):
        return value
    if "t" not in value:
        return _samples().read(value, data, library)
    name, start, shape, requires_grad = value["t"]
    stored = np.dtype("float16" if name == "float64" else name)
    array = np.frombuffer(data, stored, int(np.prod(shape)), start).reshape(shape).astype(name)
    out = library.from_numpy(_turned(array) if turned and array.ndim > 1 and array.size else array)
    return out.requires_grad_() if requires_grad else out


def _samples():
    return importlib.import_module("expected.database_samples")


def tensors_in(value, kind):
    """The tensors in nested containers, in order."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for item in value for x in tensors_in(item, kind)] if isinstance(value, (list, tuple)) else []


def strides_of(x):
    """The strides of the axes of several elements; None of what has no elements, and where there is no tensor."""
    if x is None or not x.numel():
        return None
    return [stride for extent, stride in zip(x.shape, x.stride(), strict=True) if extent > 1]


def outcome(library, function, args, kwargs):
    """The results, the first gradients, and the same with a history, for cotangents that lie row by row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = tensors_in(function(*args, **kwargs), library.Tensor)
        inputs = [x for x in tensors_in([args, kwargs], library.Tensor) if x.requires_grad]
        outputs = [x for x in results if x.requires_grad]
        found = []
        for create_graph in (False, True):
            if not inputs or not outputs:
                found.append([])
                continue
            ones = [library.ones(tuple(x.shape), dtype=x.dtype) for x in outputs]
            found.append(
                library.autograd.grad(
                    outputs, inputs, ones, retain_graph=True, create_graph=create_graph, allow_unused=True
                )
            )
    return results, *found


def facts(library, function, args, kwargs):
    """What `outcome` gives, as the strides of each and whether it has a history."""
    results, first, second = outcome(library, function, args, kwargs)
    return {
        "results": [strides_of(x) for x in results],
        "gradients": [strides_of(x) for x in first],
        "histories": [x is not None and x.requires_grad for x in (*results, *second)],
    }


class _Numbers:
    def __init__(self):
        self.parts, self.size = [], 0

    def add(self, tensor):
        plain = tensor.detach().contiguous().numpy()
        name = str(plain.dtype)
        data = plain.astype("float16" if name == "float64" else name).tobytes()
        self.parts.append(data)
        self.size += len(data)
        return {"t": [name, self.size - len(data), list(plain.shape), tensor.requires_grad]}


def _chosen(op, torch, conversion, questions):
    """Samples with two axes at least and few numbers, those with the most axes first."""
    found = []
    question = questions.Question(op, torch.float64, 40)
    for each in question.samples(question.differentiable and op.supports_autograd):
        tensors = conversion.tensors_in([each.input, each.args, each.kwargs])
        axes = max((x.dim() for x in tensors if x.numel()), default=0)
        usual = all(x.layout is torch.strided and x.is_contiguous() for x in tensors)
        if usual and axes > 1 and sum(x.numel() for x in tensors) <= MOST:
            found.append((-axes, len(found), each))
    return [each for *_, each in sorted(found, key=lambda f: f[:2])][:SAMPLES]


def make(torch):
    """The calls with PyTorch's answers, as text, and the bytes of their numbers."""
    judging, counterparts, questions, conversion = (
        importlib.import_module(f"database.{name}") for name in ("judging", "counterparts", "questions", "conversion")
    )
    samples, numbers, calls = _samples(), _Numbers(), {}
    for op in judging.entries():
        known = (f"torch.{op.name}", counterparts._paths().get(id(op.op), ""))
        path = next((p for p in known if samples._leads(p, op.op, counterparts)), "")
        if not path or op.name in SKIPPED or torch.float64 not in op.supported_dtypes("cpu"):
            continue
        for i, each in enumerate(_chosen(op, torch, conversion, questions)):
            before = numbers.size, len(numbers.parts)
            try:
                kwargs = {name: samples.written(x, numbers, torch) for name, x in each.kwargs.items()}
                call = [samples.written(x, numbers, torch) for x in (each.input, *each.args)]
                answers = [_answer(torch, op.op, call, kwargs, numbers, turned) for turned in (False, True)]
            except Exception:
                numbers.size, numbers.parts[before[1] :] = before[0], []
                continue
            calls[f"{op.formatted_name}|{i}"] = [path, call, kwargs, answers]
    text = json.dumps(calls, separators=(",", ":")).encode()
    return {"calls": np.frombuffer(text, np.uint8), "numbers": np.frombuffer(b"".join(numbers.parts), np.uint8)}


def _answer(torch, function, call, kwargs, numbers, turned):
    data = b"".join(numbers.parts)
    keywords = {name: read(x, data, torch, turned) for name, x in kwargs.items()}
    return facts(torch, function, read(call, data, torch, turned), keywords)
