"""A small GPT that writes like Python's reference manual, one character at a time.

python examples/char_gpt.py [--steps N] [--eager] [--picture FILE]

The text is the help that Python brings along (``pydoc_data.topics``); the picture shows what the model has written.
"""

import sys
import textwrap
from pydoc_data.topics import topics

import runner

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

CONTEXT = 32
BATCH = 16
WIDTH = 64
HEADS = 4
LAYERS = 2
TOPICS = ["assert", "assignment", "class", "for", "function", "if", "import", "lambda", "return", "try", "while"]
TEXT = "".join(topics[name] for name in TOPICS)
CHARACTERS = sorted(set(TEXT))
CODE = {character: code for code, character in enumerate(CHARACTERS)}


class Block(nn.Module):
    """Causal self-attention and a feed-forward network, each beside a residual connection."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, time, _ = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        query, key, value = (part.view(batch, time, HEADS, -1).transpose(1, 2) for part in parts)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, time, WIDTH))
        return x + self.feed_forward(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(len(CHARACTERS), WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(CHARACTERS))

    def forward(self, codes):
        x = self.tokens(codes) + self.positions(torch.arange(codes.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def draw_batch(text):
    """`BATCH` pieces of the text at random places, and the same pieces one character later."""
    starts = torch.randint(len(text) - CONTEXT - 1, (BATCH,))
    pieces = text[starts[:, None] + torch.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]


@torch.no_grad()
def write(model, start, length):
    """`start`, continued by `length` characters that are drawn from the model's distribution."""
    codes = torch.tensor([[CODE[character] for character in start]])
    for _ in range(length):
        probabilities = F.softmax(model(codes[:, -CONTEXT:])[:, -1], dim=-1)
        codes = torch.cat([codes, torch.multinomial(probabilities, 1)], dim=1)
    return "".join(CHARACTERS[code] for code in codes[0].tolist())


def train(steps, compiled, report):
    torch.manual_seed(0)
    text = torch.tensor([CODE[character] for character in TEXT])
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        report(step(*draw_batch(text)).item())
    return report.losses, write(model, "The ", 400)


def draw(figure, trained):
    losses, text = trained
    left, right = figure.subplots(1, 2)
    left.plot(losses)
    left.set(xlabel="step", ylabel="cross entropy")
    right.axis("off")
    lines = [piece for line in text.splitlines() for piece in textwrap.wrap(line, 52) or [""]]
    right.text(0, 1, "\n".join(lines[:26]), family="monospace", size=7, va="top")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=300))
