from __future__ import annotations
from typing import Any, Callable, Type, TypeVar, Sequence
import tracegrad as torch
from tracegrad import Tensor, nn

M = TypeVar("M", bound=nn.Module)


class Block(nn.Module):
    def __init__(self, act: Type[nn.Module] = nn.GELU, norm: type[nn.Module] | None = None, width: int = 4) -> None:
        super().__init__()
        self.act = act()
        self.fc = nn.Linear(width, width)
        self.norm = norm(width) if norm is not None else nn.Identity()
        self.drop: nn.Module = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.act(self.norm(self.fc(x))))


def make(cls: type[M], **kwargs: Any) -> M:
    return cls(**kwargs)


def build(
    layers: Sequence[type[nn.Module]], opt: Callable[..., torch.optim.Optimizer], params: Any
) -> tuple[nn.Module, torch.optim.Optimizer]:
    return nn.Sequential(*[layer(3, 3) for layer in layers]), opt(params, lr=0.1)


ACTS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
OPTS: dict[str, Callable[..., torch.optim.Optimizer]] = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
FNS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": nn.functional.gelu,
    "id": lambda x: x,
}
block = make(Block, width=3)
opt = OPTS["sgd"](block.parameters(), lr=0.1)
act = ACTS["relu"]()
y = FNS["relu"](torch.ones(3))


class Lit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.compile(nn.Linear(3, 3))
        self.block = Block()
        self.block = torch.compile(self.block)

    @torch.compile
    def forward(self, x: Tensor, *, flag: bool = False) -> Tensor:
        return self.net(x)

    @torch.compile(mode="reduce-overhead", dynamic=False)
    def other(self, x: Tensor) -> Tensor:
        return x

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @staticmethod
    @torch.no_grad()
    def stat(x: Tensor) -> Tensor:
        return x.mean()

    @classmethod
    def load(cls, path: str) -> Lit:
        m = cls()
        m.load_state_dict(torch.load(path))
        return m


lit = Lit()
out: Tensor = lit(torch.ones(1, 3))
o2: Tensor = lit.forward(torch.ones(1, 3), flag=True)
o3: Tensor = lit.other(torch.ones(1, 3))
net: nn.Module = nn.Linear(1, 1)
net = torch.compile(net)
opt_net = torch.compile(net, mode="max-autotune", fullgraph=False, backend="inductor")
opt_net.state_dict()
net.compile()
