"""Files that PyTorch writes, and what is in them: values, strides, which tensors share memory."""

import io
import json
from collections import Counter, OrderedDict

import numpy as np

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()

#: What a restricted reader takes.
WEIGHTS = {
    **{f"dtype {name}": f"torch.arange(6).view(2, 3).to(torch.{name})" for name in DTYPES},
    "names of dtypes": "[torch.float32, torch.bool, torch.complex128, torch.bfloat16, torch.uint8, torch.int64]",
    "0-d": "[torch.tensor(3), torch.tensor(2.5, dtype=torch.float64), torch.tensor(True)]",
    "empty": "[torch.zeros(0), torch.zeros(0, 3), torch.zeros(2, 0, dtype=torch.int64), torch.ones(4)[2:2]]",
    "strides": "[torch.arange(6.).view(2, 3).t(), torch.arange(24).view(2, 3, 4).permute(2, 0, 1)]",
    "gaps": "[torch.arange(24.).view(4, 6)[1:3, ::2], torch.arange(10)[7:], torch.arange(9.).view(3, 3).diagonal()]",
    "expanded": "[torch.ones(1).expand(3, 4), torch.arange(3).view(3, 1).expand(3, 2)]",
    "windows": "[torch.arange(6.).unfold(0, 3, 1), torch.arange(6).as_strided((2, 2), (1, 3), 1)]",
    "channels last": "torch.arange(24.).view(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)",
    "shared": "(lambda w: {'view': w[1:3, ::2].t(), 'whole': w, 'row': w[2], 'flat': w.view(-1)})"
              "(torch.arange(24.).view(4, 6))",
    "the same twice": "(lambda w: [w, [w, (w,)]])(torch.arange(3))",
    "flags": "[torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2, 2)), "
             "torch.nn.Parameter(torch.ones(1, dtype=torch.bfloat16), requires_grad=False)]",
    "tied": "(lambda p: [p, p, p.detach()])(torch.nn.Parameter(torch.arange(4.)))",
    "conjugated": "(lambda c: [c.conj(), c.conj()[1:]])(torch.tensor([1 + 2j, 3 - 4j]))",
    "negated": "torch._neg_view(torch.arange(3.))",
    "attributes": "given(torch.ones(2), note='x', more=[1, torch.zeros(1)])",
    "attributes of a parameter": "given(torch.nn.Parameter(torch.ones(2)), note={'a': 1})",
    "buffer": "torch.nn.Buffer(torch.ones(2), persistent=False)",
    "others": "[torch.Size([1, 2]), torch.Size([]), torch.device('cpu'), torch.strided]",
    "containers": "{'a': [1, -1, 300, 2**40, -2**70, 1.5, float('inf'), None, True], ('t', 1): (1, (2,), ()), 3: {}, "
                  "'s': {1, 2}, 'o': OrderedDict(x=OrderedDict()), 'c': Counter('aab'), 'z': 1 + 2j, 'b': b'ab\\xff', "
                  "'ba': bytearray(b'x'), 'u': 'ü€'}",
    "network": "net(torch).state_dict()",
    "recurrent": "torch.nn.LSTM(2, 3, bidirectional=True).state_dict()",
    "attention": "torch.nn.MultiheadAttention(4, 2).state_dict()",
    "training": "training(torch, lambda p: torch.optim.AdamW(p, weight_decay=0.1))",
    "momentum": "training(torch, lambda p: torch.optim.SGD([{'params': p[:1], 'lr': 0.2}, {'params': p[1:]}], lr=0.1, "
                "momentum=0.9))",
    "random state": "torch.manual_seed(5).get_state()",
}  # fmt: skip
#: The optimizers whose state is stored; each has made two steps.
OPTIMIZERS = "SGD Adam AdamW Adamax NAdam RAdam RMSprop Adagrad Adadelta ASGD Rprop LBFGS Adafactor".split()
WEIGHTS |= {f"optimizer {name}": f"training(torch, torch.optim.{name})[1]" for name in OPTIMIZERS}
#: What needs trust: classes.
OBJECTS = {
    "module": "net(torch)",
    "layers": "torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding='same'), torch.nn.ReLU6(), torch.nn.AvgPool1d(2), "
              "torch.nn.ReflectionPad1d(1), torch.nn.GRU(2, 2), torch.nn.MultiheadAttention(2, 1))",
    "transformer": "torch.nn.TransformerEncoderLayer(4, 2, 8, activation='gelu')",
    "function": "[torch.nn.functional.relu]",
    "optimizer": "(lambda p: torch.optim.Adam([p], lr=0.5))(torch.nn.Parameter(torch.ones(2)))",
    "generator": "torch.Generator().manual_seed(7)",
}  # fmt: skip
#: What is stored in the format before 1.6 as well.
LEGACY = ("shared", "flags", "conjugated", "network", "containers", "dtype bool", "dtype bfloat16", "gaps", "empty")
LEGACY_OBJECTS = ("module",)


def given(tensor, **attributes):
    vars(tensor).update(attributes)
    return tensor


def net(torch):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1))


def training(torch, make):
    """Model, optimizer and scheduler after two steps, as their states."""
    torch.manual_seed(2)
    model = torch.nn.Linear(2, 2)
    optimizer = make(list(model.parameters()))
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    x = torch.tensor([[1.0, 2.0], [3.0, -1.0]])

    def closure():
        optimizer.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(2):
        optimizer.step(closure)
        scheduler.step()
    return [model.state_dict(), optimizer.state_dict(), scheduler.state_dict()]


def value(torch, text):
    names = {"torch": torch, "given": given, "net": net, "training": training}
    return eval(text, {**names, "OrderedDict": OrderedDict, "Counter": Counter})


def written(torch, obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **options)
    return file.getvalue()


def make_files(torch):
    """Each file's bytes, by name."""
    files = {name: written(torch, value(torch, text)) for name, text in {**WEIGHTS, **OBJECTS}.items()}
    for name in (*LEGACY, *LEGACY_OBJECTS):
        made = value(torch, {**WEIGHTS, **OBJECTS}[name])
        files[f"legacy {name}"] = written(torch, made, _use_new_zipfile_serialization=False)
    return {name: np.frombuffer(data, np.uint8) for name, data in files.items()}


def make(torch):
    """What is in them, by name."""
    return {name: described(torch, value(torch, text)) for name, text in {**WEIGHTS, **OBJECTS}.items()}


class Describing:
    """A value as what JSON can hold; memory is numbered in the order in which it is met."""

    def __init__(self, torch):
        self.torch, self.memory = torch, {}

    def __call__(self, value):
        torch, kind = self.torch, type(value)
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.nn.Module):
            return [
                kind.__name__,
                value.training,
                value.extra_repr(),
                self(list(value.named_children())),
                self(list(value.named_parameters(recurse=False))),
                self(list(value.named_buffers(recurse=False))),
            ]
        if isinstance(value, torch.optim.Optimizer):
            return [kind.__name__, self(value.state_dict())]
        if isinstance(value, torch.Generator):
            return [kind.__name__, value.initial_seed(), self(torch.randn(3, generator=value))]
        if isinstance(value, (torch.dtype, torch.device, torch.Size)) or kind.__name__ in ("layout", "memory_format"):
            return [
                "dtype" if isinstance(value, torch.dtype) else kind.__name__,
                str(value).replace("tracegrad", "torch"),
            ]
        if isinstance(value, dict):
            attributes = self(getattr(value, "__dict__", None))
            return [kind.__name__, [[self(key), self(held)] for key, held in dict.items(value)], attributes]
        if isinstance(value, (list, tuple, set)):
            return [kind.__name__, [self(part) for part in value]]
        if callable(value):
            return ["function", value.__name__]
        return [kind.__name__, repr(value)]

    def tensor(self, value):
        plain = value.detach().resolve_conj().resolve_neg()
        numbers = torch_numbers(self.torch, plain)
        place = value.untyped_storage().data_ptr() if value.numel() else 0
        attributes = {name: held for name, held in vars(value).items() if name != "is_parameter"}
        return [
            "Parameter" if isinstance(value, self.torch.nn.Parameter) else type(value).__name__,
            str(value.dtype).rpartition(".")[2], list(value.shape), list(value.stride()), value.storage_offset(),
            numbers, value.requires_grad, self.memory.setdefault(place, len(self.memory)), self(attributes),
        ]  # fmt: skip


def torch_numbers(torch, plain):
    if plain.dtype.is_complex:
        return [[number.real, number.imag] for number in plain.reshape(-1).tolist()]
    return plain.reshape(-1).tolist()


def described(torch, value):
    return json.loads(json.dumps(Describing(torch)(value)))
