"""What checkers know of values that the library makes: wrong uses of them are found."""

from typing import Any, assert_type

import tracegrad as torch
from tracegrad import Tensor, nn
from tracegrad.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


@torch.compile
def step(x: Tensor, times: int = 1) -> Tensor:
    return x * times


@torch.no_grad()
def evaluate(x: Tensor) -> float:
    return x.sum().item()


net = Net(3)
assert_type(net, Net)
assert_type(net.body, nn.Linear)
assert_type(net.body.weight, Tensor)
assert_type(net.body.bias, Tensor)
assert_type(net.eval(), Net)
assert_type(torch.compile(net), Net)
assert_type(torch.compile(mode="default")(net), Net)
assert_type(step(torch.ones(2), times=2), Tensor)
assert_type(evaluate(torch.ones(2)), float)
assert_type(torch.no_grad(), torch.no_grad)
assert_type(nn.Parameter(torch.ones(2)), nn.Parameter)
assert_type(nn.BatchNorm2d(3).weight, Tensor)
assert_type(torch.ones(2)[0], Tensor)
assert_type(torch.ones(2).grad, Tensor | None)
assert_type(torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD)
assert_type(DataLoader([1, 2]), DataLoader[int])
assert_type(DataLoader(TensorDataset(torch.ones(2))), DataLoader[tuple[Tensor, ...]])
