"""word2vec: vectors of words from the company that they keep, by skip-grams with negative samples.

python examples/word2vec.py [--steps N] [--eager] [--picture FILE]

The text is the reference manual that Python brings along (``pydoc_data.topics``). The program prints which words lie
next to some others; the picture shows them in the plane of their two main directions.
"""

import re
import sys
from collections import Counter
from pydoc_data.topics import topics

import runner

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

WIDTH = 48
WINDOW = 4
NEGATIVES = 8
BATCH = 512
SEEN_OFTEN = 12  # rarer words are left out
FREQUENT = 1e-3  # more frequent words are thinned out
ASKED = ["class", "list", "string", "integer", "true", "import", "exception", "loop"]
SHOWN = 60


def load_text():
    """The vocabulary, the most frequent word first, and the text as numbers of words."""
    words = re.findall(r"[a-z]+", " ".join(topics.values()).lower())
    vocabulary = [word for word, count in Counter(words).most_common() if count >= SEEN_OFTEN and len(word) > 1]
    number = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, torch.tensor([number[word] for word in words if word in number])


def skip_grams(text, counts):
    """Pairs of words at most `WINDOW` apart, of which frequent ones are left out at random."""
    frequency = counts / counts.sum()
    text = text[torch.rand(len(text)) < (FREQUENT / frequency).sqrt()[text]]
    ahead = [torch.stack([text[:-distance], text[distance:]], dim=1) for distance in range(1, WINDOW + 1)]
    pairs = torch.cat(ahead)
    return torch.cat([pairs, pairs.flip(1)])


class SkipGram(nn.Module):
    """How well contexts `[batch, k]` go with words `[batch]`: products of their vectors."""

    def __init__(self, words):
        super().__init__()
        self.word, self.context = nn.Embedding(words, WIDTH), nn.Embedding(words, WIDTH)
        nn.init.uniform_(self.word.weight, -0.5 / WIDTH, 0.5 / WIDTH)
        nn.init.zeros_(self.context.weight)

    def forward(self, word, context):
        return torch.bmm(self.context(context), self.word(word).unsqueeze(2)).squeeze(2)


def train(steps, compiled, report):
    torch.manual_seed(0)
    vocabulary, text = load_text()
    counts = torch.bincount(text).float()
    pairs, noise = skip_grams(text, counts), counts.pow(0.75)
    model = SkipGram(len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def train_step(word, context, negative):
        optimizer.zero_grad()
        scores = model(word, torch.cat([context.unsqueeze(1), negative], dim=1))
        loss = -F.logsigmoid(scores[:, 0]).mean() - F.logsigmoid(-scores[:, 1:]).sum(dim=1).mean()
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        word, context = pairs[torch.randint(len(pairs), (BATCH,))].unbind(dim=1)
        negative = torch.multinomial(noise, BATCH * NEGATIVES, replacement=True).view(BATCH, NEGATIVES)
        report(step(word, context, negative).item())

    vectors = F.normalize(model.word.weight.detach(), dim=1)
    for word in ASKED:
        if word in vocabulary:
            near = (vectors @ vectors[vocabulary.index(word)]).topk(5).indices[1:]
            print(f"{word:>12}: {', '.join(vocabulary[i] for i in near.tolist())}")
    return vocabulary, vectors


def draw(figure, trained):
    vocabulary, vectors = trained
    vectors = vectors[SHOWN : 2 * SHOWN]  # before these are "the", "of" and the like
    centred = vectors - vectors.mean(dim=0)
    places = (centred @ torch.linalg.svd(centred, full_matrices=False)[2][:2].T).numpy()
    axes = figure.subplots()
    axes.scatter(*places.T, s=4)
    for word, place in zip(vocabulary[SHOWN:], places, strict=False):
        axes.annotate(word, place, size=7)
    axes.set(xticks=[], yticks=[])


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=2000))
