"""Mistakes: each line that says so, and no other, is to be found."""

import tracegrad as torch
from tracegrad import Tensor, nn


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()


@torch.compile
def step(x: Tensor, times: int = 1) -> Tensor:
    return x


@torch.compile(fullgraph=True)
def other(x: Tensor) -> Tensor:
    return x


def main() -> None:
    step(torch.ones(2), time=2)  # wrong
    other()  # wrong
    Net("wide")  # wrong
    Net(1, 2)  # wrong
    nn.Linear(3)  # wrong
    nn.Linear(3, 4, biases=False)  # wrong
    size: int = nn.Linear(3, 4).weight  # wrong
    torch.optim.SGD([torch.ones(2)], learning_rate=0.1)  # wrong
    for batch in torch.utils.data.DataLoader(3):  # wrong
        print(batch)
    torch.zeros_like(3)  # wrong
