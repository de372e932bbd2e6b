from __future__ import annotations
from typing import Type
import tracegrad as torch
import tracegrad.nn as nn
import tracegrad.nn.functional as F
from tracegrad.utils.data import DataLoader, Dataset, TensorDataset


class Points(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    def __init__(self, n: int) -> None:
        self.x = torch.randn(n, 4)
        self.y = torch.randint(0, 3, (n,))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[index], self.y[index]


class Net(nn.Module):
    def __init__(self, hidden: int, activation: Type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), activation(), nn.Linear(hidden, 3))
        self.scale: nn.Parameter = nn.Parameter(torch.ones(1))
        self.register_buffer("steps", torch.zeros(1))
        self.steps: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.body(x) * self.scale
        return out


def train(model: nn.Module, loader: DataLoader[tuple[torch.Tensor, ...]], device: torch.device) -> list[float]:
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.9)
    losses: list[float] = []
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    sched.step()
    return losses


if __name__ == "__main__":
    data = Points(32)
    print(train(Net(8), DataLoader(data, batch_size=8, shuffle=True), torch.device("cpu")))
    print(train(Net(8, nn.Tanh), DataLoader(TensorDataset(data.x, data.y), batch_size=8), torch.device("cpu")))
