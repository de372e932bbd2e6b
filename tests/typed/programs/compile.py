from typing import Callable
import tracegrad as torch
from tracegrad import Tensor, nn


@torch.compile
def square(x: Tensor) -> Tensor:
    return x * x


@torch.compile(fullgraph=True)
def cube(x: Tensor, n: int = 3) -> Tensor:
    return x**n


def plain(x: Tensor, scale: float) -> Tensor:
    return x * scale


compiled: Callable[[Tensor, float], Tensor] = torch.compile(plain)
model = torch.compile(nn.Linear(3, 4))
y: Tensor = square(torch.ones(3)).sum()
z = cube(torch.ones(3), n=2)
reveal = z.shape
w = compiled(torch.ones(2), 2.0)
out = model(torch.ones(2, 3))
n_params = sum(p.numel() for p in model.parameters())
model.train()
model.eval()
