"""A second process finds the programs of the first: what a graph is follows neither from the order of a set, which is
another one in each process, nor from where a program began to be noted."""

import os
import subprocess
import sys

import pytest

TRAINING = """
import sys
import tracegrad as tg
from tracegrad.compiled.execution.shape_cache import Programs
from tracegrad.compiler.graph_key import graph_key

keys, of = [], Programs.of

def noting(self, graph, *rest):
    keys.append((len(graph.nodes()), graph_key(graph)))
    return of(self, graph, *rest)

Programs.of = noting
nn, F = tg.nn, tg.nn.functional
tg.manual_seed(0)
block = tg.deferred()

def evaluate(model, x):
    with tg.no_grad():
        return model(x).sum().item()

def train(model, loss, *inputs):
    optimizer = tg.optim.Adam(model.parameters(), 1e-3)
    for _ in range(4):
        loss(model, *inputs).backward()
        optimizer.step()
        optimizer.zero_grad()
"""

FIELD = """
def loss(model, x):
    first, second = model(x).split(1, 1)
    slopes = [tg.autograd.grad(part.sum(), x, create_graph=True)[0] for part in (first, second)]
    return sum(slopes).square().mean()

model = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 2))
inputs = tg.randn(75, 2, requires_grad=True),
"""

IMAGES = """
def loss(model, x, y):
    return F.cross_entropy(model(x), y) + 1e-3 * sum(p.norm() for p in model.parameters())

model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.1), nn.Linear(36, 5)
)
inputs = tg.randn(8, 1, 8, 8), tg.randint(5, (8,))
"""

TEXT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(11, 8), nn.Linear(8, 11)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.state = nn.GRU(8, 8, batch_first=True)

    def forward(self, x):
        return self.head(self.state(self.layer(self.embedding(x)))[0])

def loss(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())

model = Net()
inputs = tg.randint(11, (4, 6)), tg.randint(11, (4, 6))
"""

PENALTY = """
def loss(model, x, y):
    mixed = (x + tg.rand(6, 1) * (y - x)).requires_grad_()
    (slope,) = tg.autograd.grad(model(mixed).sum(), mixed, create_graph=True)
    return model(x).mean() - model(y).mean() + 10 * (slope.norm(2, 1) - 1).square().mean()

model = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1))
inputs = tg.randn(6, 4), tg.randn(6, 4)
"""

BEGIN = """
for _ in range(3):
    with block:
        evaluate(model, inputs[0])
"""

RUN = """
with block:
    train(model, loss, *inputs)
    for _ in range(3):
        evaluate(model, inputs[0])
sys.stdout.write(repr(keys))
"""


def keys(program, hash_seed):
    """The keys of the graphs that a process with this seed makes programs of, and how many nodes they have."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-c", program]
    return eval(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("kind", [FIELD, IMAGES, TEXT, PENALTY], ids=["field", "images", "text", "penalty"])
def test_the_order_of_sets_is_no_part_of_a_graph(kind):
    found = [keys(TRAINING + kind + RUN, seed) for seed in (1, 2, 3)]
    assert found[0] and max(found[0])[0] > 100 and found[1] == found[2] == found[0]


def test_where_an_input_is_met_first_is_no_part_of_a_graph():
    late, early = keys(TRAINING + TEXT + RUN, 1), keys(TRAINING + TEXT + "\n\n" + BEGIN + RUN, 1)
    whole = {(nodes, key) for nodes, key in late if nodes > 100}  # steps; functions of the library are other ones
    assert len(whole) == 3 and whole <= set(early)
