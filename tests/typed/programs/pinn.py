import math
from typing import Sequence
import numpy as np
import tracegrad as torch
from numpy.typing import NDArray


class MLP(torch.nn.Module):
    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


def derivative(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]


def residual(net: MLP, xt: torch.Tensor) -> torch.Tensor:
    xt.requires_grad_(True)
    u = net(xt)
    du = derivative(u, xt)
    u_x, u_t = du[:, 0:1], du[:, 1:2]
    u_xx = derivative(u_x, xt)[:, [0]]
    return u_t + u * u_x - (0.01 / math.pi) * u_xx


net = MLP([2, 8, 8, 1])
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=3, line_search_fn="strong_wolfe")
pts = torch.rand(16, 2) * torch.tensor([2.0, 1.0]) - torch.tensor([1.0, 0.0])


def closure() -> torch.Tensor:
    opt.zero_grad()
    loss = residual(net, pts).square().mean()
    loss.backward()
    return loss


loss = opt.step(closure)
grid: NDArray[np.float32] = np.linspace(-1, 1, 5, dtype=np.float32)
with torch.no_grad():
    u = net(torch.from_numpy(np.stack([grid, grid], 1))).numpy()
a = np.asarray(torch.ones(3)) + 1
m = float(np.mean(u)) + float(loss)
