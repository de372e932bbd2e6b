from typing import Any, Iterable
import tracegrad as torch
from tracegrad import nn, optim
from tracegrad.optim import Optimizer
from tracegrad.optim.lr_scheduler import (
    LambdaLR,
    LRScheduler,
    ReduceLROnPlateau,
    CosineAnnealingLR,
    OneCycleLR,
    SequentialLR,
)

model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
groups = [
    {"params": model[0].parameters(), "lr": 0.1},
    {"params": [model[1].weight], "weight_decay": 0.01},
    {"params": model[1].bias},
]
opt = optim.SGD(groups, lr=0.01, momentum=0.9)
opt2 = optim.AdamW([{"params": model.parameters()}], lr=1e-3, betas=(0.9, 0.99))
opt3 = optim.Adam([p for n, p in model.named_parameters() if "bias" in n])
opt4 = optim.SGD(model.named_parameters(), lr=0.1)
decay = [p for p in model.parameters() if p.dim() > 1]
no_decay = [p for p in model.parameters() if p.dim() <= 1]
opt5 = optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=3e-4)


def build(name: str, params: Iterable[nn.Parameter]) -> Optimizer:
    table: dict[str, type[Optimizer]] = {"sgd": optim.SGD, "adam": optim.Adam}
    return table[name](params, {"lr": 0.1})


def schedule(opt: Optimizer) -> LRScheduler:
    return LambdaLR(opt, lambda step: 0.95**step)


sched: LRScheduler = CosineAnnealingLR(opt, T_max=10)
plateau = ReduceLROnPlateau(opt, mode="min", patience=3)
plateau.step(0.3)
plateau.step(torch.tensor(0.3).item())
lr = float(sched.get_last_lr()[0])
for group in opt.param_groups:
    group["lr"] = group["lr"] * 0.5
opt.param_groups[0]["lr"] = 0.3
state: dict[str, Any] = opt.state_dict()
opt.load_state_dict(state)


def closure() -> torch.Tensor:
    opt.zero_grad(set_to_none=True)
    loss = model(torch.ones(2, 3)).pow(2).mean()
    loss.backward()
    return loss


loss = opt.step(closure)
opt.step()
one = OneCycleLR(opt, max_lr=0.1, total_steps=100)
seq = SequentialLR(opt, [LambdaLR(opt, lambda e: 1.0), CosineAnnealingLR(opt, 5)], milestones=[2])
