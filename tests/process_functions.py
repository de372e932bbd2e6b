"""What tests run in other processes: functions that these can import."""

import sys

import tracegrad as tg


def double(queue, answers, x, model):
    with tg.no_grad():
        x.mul_(2)
        for parameter in model.parameters():
            parameter.fill_(3.0)
    received = queue.get()
    received.fill_(7.0)
    answers.put(x[1:])
    answers.put(tg.arange(4))
    queue.get()  # until the answers have been read: who sends memory has to be alive


def train(model, x):
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    @tg.compile
    def step():
        optimizer.zero_grad()
        model(x).pow(2).sum().backward()
        optimizer.step()

    for _ in range(4):
        step()


def fail(i, word):
    if i == 1:
        raise ValueError(f"no {word}")


def leave(i):
    sys.exit(3)


def train_part(rank, model, compiled):
    """What each process of a Hogwild run does."""
    generator = tg.Generator().manual_seed(rank)
    x = tg.rand(16, 3, generator=generator)
    y = x.sum(1, keepdim=True) - 1
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)

    def step():
        optimizer.zero_grad()
        loss = tg.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = tg.compile(step) if compiled else step
    for _ in range(5):
        step()


class Tagged(tg.Tensor):
    """A tensor of a program's class."""


class Weight(tg.nn.Parameter):
    """A parameter of a program's class."""
