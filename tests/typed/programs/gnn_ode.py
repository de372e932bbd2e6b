from typing import Callable, Iterable, Iterator, Union
import tracegrad as torch
from tracegrad import Tensor, nn

Field = Callable[[Tensor, Tensor], Tensor]
Scalar = Union[float, Tensor]


class GCN(nn.Module):
    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(i, o))
        self.bias = nn.Parameter(torch.zeros(o))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight, gain=nn.init.calculate_gain("relu"))
        bound = 1 / self.weight.size(1) ** 0.5
        nn.init.uniform_(self.bias, -bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        return torch.mm(adj, x @ self.weight) + self.bias

    def extra_repr(self) -> str:
        return f"{self.weight.shape[0]} -> {self.weight.shape[1]}"

    def __repr__(self) -> str:
        return self.__class__.__name__ + f"({self.extra_repr()})"


def rk4(f: Field, y: Tensor, t: Tensor) -> Tensor:
    ys = [y]
    for t0, t1 in zip(t[:-1], t[1:]):
        h = t1 - t0
        k1 = f(t0, y)
        k2 = f(t0 + h / 2, y + h * k1 / 2)
        k3 = f(t0 + h / 2, y + h * k2 / 2)
        k4 = f(t1, y + h * k3)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        ys.append(y)
    return torch.stack(ys)


class ODE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        return self.net(y**3)


def batches(x: Tensor, size: int) -> Iterator[Tensor]:
    perm = torch.randperm(len(x))
    for i in range(0, x.size(0), size):
        yield x[perm[i : i + size]]


adj = torch.eye(3)
adj[0, 1] = adj[1, 0] = 1
deg = adj.sum(1)
norm = deg.pow(-0.5).diag() @ adj @ torch.diag(deg**-0.5)
g = GCN(2, 4)
print(g(torch.ones(3, 2), norm).shape, g)
out = rk4(ODE(), torch.ones(1, 2), torch.linspace(0.0, 1.0, 5))
for b in batches(torch.arange(10).float(), 3):
    b.mean()
train_mask = torch.zeros(3, dtype=torch.bool)
train_mask[:2] = True
acc = int((out.argmax(-1) == 0)[0].sum()) / int(train_mask.sum())
