from __future__ import annotations
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Callable, Dict, Generic, List, Mapping, Optional, Protocol, TypeVar, Union
import tracegrad as torch
from tracegrad import nn
from tracegrad.optim import Optimizer
from tracegrad.optim.lr_scheduler import LRScheduler
from tracegrad.utils.data import DataLoader
from tracegrad.utils.data.dataset import Dataset

Batch = tuple[torch.Tensor, torch.Tensor]
LossFn = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Callback(Protocol):
    def __call__(self, epoch: int, metrics: Mapping[str, float]) -> None: ...


@dataclass
class History:
    losses: List[float] = field(default_factory=list)
    best: Optional[Dict[str, torch.Tensor]] = None


class Trainer:
    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        criterion: LossFn | nn.Module,
        scheduler: LRScheduler | None = None,
        device: Union[str, torch.device] = "cpu",
        callbacks: tuple[Callback, ...] = (),
    ) -> None:
        self.model = model.to(device)
        self.optimizer = optimizer
        self.criterion = criterion
        self.scheduler = scheduler
        self.device = torch.device(device)
        self.callbacks = callbacks
        self.history = History()
        self.scaler = torch.amp.GradScaler("cpu", enabled=False)

    def epoch(self, loader: DataLoader[Batch]) -> float:
        self.model.train()
        total = 0.0
        for step, (x, y) in enumerate(loader, start=1):
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device_type=self.device.type, dtype=torch.bfloat16, enabled=False):
                loss = self.criterion(self.model(x.to(self.device)), y.to(self.device))
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.optimizer)
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            total += loss.item() * x.size(0)
        if self.scheduler is not None:
            self.scheduler.step()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader: DataLoader[Batch]) -> tuple[float, float]:
        self.model.eval()
        correct, count = 0, 0
        for x, y in loader:
            pred = self.model(x).argmax(dim=1)
            correct += (pred == y).sum().item()
            count += y.numel()
        self.history.best = {k: v.clone() for k, v in self.model.state_dict().items()}
        return correct / count, float(count)

    def fit(self, loader: DataLoader[Batch], epochs: int) -> History:
        for e in range(epochs):
            loss = self.epoch(loader)
            self.history.losses.append(loss)
            for c in self.callbacks:
                c(e, {"loss": loss})
        return self.history


class Toy(Dataset[Batch]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Batch:
        return torch.ones(4) * i, torch.tensor(i % 2)


model = nn.Sequential(nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
t = Trainer(
    model,
    opt,
    nn.CrossEntropyLoss(),
    torch.optim.lr_scheduler.ExponentialLR(opt, 0.9),
    callbacks=(lambda epoch, metrics: None,),
)
t.fit(DataLoader(Toy(), batch_size=4), 2)
print(t.evaluate(DataLoader(Toy(), batch_size=4)))
