"""Steps that get their data in other forms than two tensors."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from .setting import BATCHES, Run, parameters, pattern

MANY = 40  # batches, where a program for each of a few would hide what happens with a whole data set
Batch = namedtuple("Batch", ["inputs", "labels"])


@dataclass
class Example:
    x: Any
    y: Any
    weight: float


@pattern("data in a variable, rebound at each call")
def rebound(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    batches = s.batches(MANY)
    x, y = batches[0]

    @s.whole
    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def call(i):
        nonlocal x, y
        x, y = batches[i % MANY]
        return step()

    return Run(call, parameters(model))


@pattern("slices of one data tensor")
def slices(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    batches, rows = s.batches(MANY), s.sizes.rows
    data = torch.cat([x for x, _ in batches])
    target = torch.cat([y for _, y in batches])

    @s.whole
    def step(start):
        x, y = data[start : start + rows], target[start : start + rows]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return Run(lambda i: step(i % MANY * rows), parameters(model))


@pattern("a dict batch with an id string")
def dict_batch(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch["input"]), batch["label"])
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()

    def call(i):
        x, y = batches[i % BATCHES]
        return step({"id": f"sample-{i}", "input": x, "label": y})

    return Run(call, parameters(model))


@pattern("a namedtuple batch")
def named_batch(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.inputs), batch.labels)
        loss.backward()
        optimizer.step()
        return loss

    batches = [Batch(x, y) for x, y in s.batches()]
    return Run(lambda i: step(batches[i % BATCHES]), parameters(model))


@pattern("a dataclass with a weight")
def dataclass_batch(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(example):
        optimizer.zero_grad()
        loss = example.weight * F.cross_entropy(model(example.x), example.y)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(Example(*batches[i % BATCHES], weight=1 / (1 + 0.01 * i))), parameters(model))


@pattern("numpy batches (from_numpy)")
def numpy_batches(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        x, y = torch.from_numpy(x), torch.from_numpy(y)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    arrays = s.arrays()
    return Run(lambda i: step(*arrays[i % BATCHES]), parameters(model))


@pattern("an epoch in one function", has_part=True)
def epoch(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.part
    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    @s.whole
    def train_epoch(loader):
        model.train()
        total = 0.0
        for x, y in loader:
            total += train_step(x, y).item()
        return total / len(loader)

    batches = s.batches()
    return Run(lambda i: train_epoch(batches), parameters(model), steps=BATCHES)


@pattern("generator of batches", has_part=True)
def generated(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    batches, rows = s.batches(), s.sizes.rows
    data = torch.cat([x for x, _ in batches])
    target = torch.cat([y for _, y in batches])

    def shuffled():
        order = torch.randperm(len(data))
        for start in range(0, len(data), rows):
            index = order[start : start + rows]
            yield data[index], target[index]

    @s.part
    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    @s.whole
    def train_epoch():
        return sum(train_step(x, y).item() for x, y in shuffled())

    return Run(lambda i: train_epoch(), parameters(model), steps=BATCHES)


@pattern("kwargs calls")
def keywords(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(*, inputs, labels, scale=1.0):
        optimizer.zero_grad()
        loss = F.cross_entropy(input=model(inputs), target=labels) * scale
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    batches = [dict(inputs=x, labels=y) for x, y in s.batches()]
    return Run(lambda i: step(**batches[i % BATCHES], scale=2.0), parameters(model))


@pattern("mixup with random numbers of numpy")
def mixup(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        lam = np.random.beta(0.2, 0.2)
        index = torch.from_numpy(np.random.permutation(x.size(0)))
        mixed = lam * x + (1 - lam) * x[index]
        optimizer.zero_grad()
        logits = model(mixed)
        loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[index])
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))
