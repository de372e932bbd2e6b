import copy
from collections import OrderedDict
from typing import Any, Dict, Iterator, List, Tuple, TypeVar, cast
import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import Module, Parameter
from tracegrad.nn.parameter import Parameter as P

M = TypeVar("M", bound=nn.Module)
acts: Dict[str, torch.Tensor] = {}


def save(name: str):  # type: ignore[no-untyped-def]
    def hook(module: nn.Module, args: Tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        acts[name] = output.detach()

    return hook


def freeze(model: M) -> M:
    for p in model.parameters():
        p.requires_grad = False
        p.requires_grad_(False)
    return model


class EMA:
    def __init__(self, model: nn.Module, decay: float = 0.99) -> None:
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for (name, b), c in zip(model.named_buffers(), self.shadow.buffers()):
            c.copy_(b)


model = nn.Sequential(OrderedDict([("a", nn.Linear(2, 3)), ("r", nn.ReLU()), ("b", nn.Linear(3, 1))]))
handles = [m.register_forward_hook(save(n)) for n, m in model.named_modules() if n]
model(torch.ones(1, 2))
for h in handles:
    h.remove()
freeze(model)
ema = EMA(model)
ema.update(model)
first = model[0]
sub = model[:2]
assert isinstance(first, nn.Linear)
first.weight.data *= 2
first.weight = nn.Parameter(torch.zeros(3, 2))
first.bias.data.zero_()
size: int = first.in_features
sd: Dict[str, Any] = model.state_dict()
w = sd["a.weight"]
plist = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(2)])
mods = nn.ModuleList()
mods.append(nn.Linear(1, 1))
mods.extend([nn.ReLU()])
n = len(mods)
mdict = nn.ModuleDict({"x": nn.Linear(1, 1)})
for key, mod in mdict.items():
    mod(torch.ones(1))
params = [p for p in model.parameters() if p.requires_grad]
total: int = sum(p.numel() for p in model.parameters())
vec = torch.nn.utils.parameters_to_vector(model.parameters())
torch.nn.utils.vector_to_parameters(vec, model.parameters())
clone = cast(nn.Sequential, copy.deepcopy(model))
model.to(torch.float64).to("cpu").float()
model.half().float()
print(model, next(model.parameters()).device, next(iter(model.children())))
seq = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
seq.append(nn.Linear(1, 1))
for i, layer in enumerate(seq):
    x = layer(torch.ones(1))
layers: list[nn.Module] = [nn.Conv1d(1, 1, 1), nn.Dropout(0.1), nn.Identity()]
big = nn.Sequential(*layers)
