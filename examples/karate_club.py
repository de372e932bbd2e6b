"""A graph network that tells who joins which side when a karate club splits, from two labelled members.

python examples/karate_club.py [--steps N] [--eager] [--picture FILE]

The graph is Zachary's karate club (1977): 34 members, 78 friendships. Only the instructor and the officer are
labelled; two graph convolutions carry the labels along the edges. The picture shows the members' hidden features.
"""

import sys

import runner

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

# Each member's friends among those with a higher number, from 0.
FRIENDS = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    1: [2, 3, 7, 13, 17, 19, 21, 30],
    2: [3, 7, 8, 9, 13, 27, 28, 32],
    3: [7, 12, 13],
    4: [6, 10],
    5: [6, 10, 16],
    6: [16],
    8: [30, 32, 33],
    9: [33],
    13: [33],
    14: [32, 33],
    15: [32, 33],
    18: [32, 33],
    19: [33],
    20: [32, 33],
    22: [32, 33],
    23: [25, 27, 29, 32, 33],
    24: [25, 27, 31],
    25: [31],
    26: [29, 33],
    27: [33],
    28: [31, 33],
    29: [32, 33],
    30: [32, 33],
    31: [32, 33],
    32: [33],
}
EDGES = [(a, b) for a, friends in FRIENDS.items() for b in friends]
MEMBERS = 34
WITH_INSTRUCTOR = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21]
INSTRUCTOR, OFFICER = 0, 33


class GraphConvolution(nn.Module):
    """Sums neighbours' features along edges, weighted by 1 / sqrt(degree * degree): `[members, features]`."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, source, target, weight):
        messages = self.linear(x)[source] * weight.unsqueeze(1)
        return torch.zeros(len(x), messages.shape[1]).index_add(0, target, messages)


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GraphConvolution(MEMBERS, 16)
        self.conv2 = GraphConvolution(16, 2)

    def forward(self, x, *graph):
        """Features of all members for drawing, and the logits of the two sides."""
        hidden = torch.tanh(self.conv1(x, *graph))
        return hidden, self.conv2(hidden, *graph)


def load_graph():
    """Sources, targets and weights of the edges: both directions, and one from each member to itself."""
    edges = torch.tensor(EDGES + [(b, a) for a, b in EDGES] + [(a, a) for a in range(MEMBERS)])
    source, target = edges.unbind(dim=1)
    degree = torch.bincount(target).float()
    return source, target, (degree[source] * degree[target]).rsqrt()


def train(steps, compiled, report):
    torch.manual_seed(0)
    graph, features = load_graph(), torch.eye(MEMBERS)
    known, labels = torch.tensor([INSTRUCTOR, OFFICER]), torch.tensor([0, 1])
    model = GCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-3)

    def train_step(x):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, *graph)[1][known], labels)
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        report(step(features).item())

    with torch.no_grad():
        hidden, logits = model(features, *graph)
    side = torch.ones(MEMBERS, dtype=torch.int64).index_fill(0, torch.tensor(WITH_INSTRUCTOR), 0)
    print(f"{(logits.argmax(dim=1) == side).sum().item()} of {MEMBERS} members on the right side")
    return hidden, side


def draw(figure, trained):
    hidden, side = trained
    centred = hidden - hidden.mean(dim=0)
    places = (centred @ torch.linalg.svd(centred, full_matrices=False)[2][:2].T).numpy()  # principal components
    axes = figure.subplots()
    for a, b in EDGES:
        axes.plot(*places[[a, b]].T, color="lightgray", linewidth=0.5, zorder=0)
    axes.scatter(*places.T, c=side.numpy(), cmap="coolwarm", s=80)
    for member, place in enumerate(places):
        axes.annotate(str(member), place, size=6, ha="center", va="center")
    axes.set(xticks=[], yticks=[], title="members by hidden features; colour: the side they took")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=200))
