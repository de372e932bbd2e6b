"""An LSTM that learns the next character: hidden state carried on, clipping, sampling with a temperature."""

import math
import time

import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(1111)
text = "she sells sea shells by the sea shore and the shells she sells are sea shells for sure. " * 12
chars = sorted(list(set(text)))
index = {c: i for i, c in enumerate(chars)}


def batchify(data, size):
    count = data.size(0) // size
    return data.narrow(0, 0, count * size).view(size, -1).t().contiguous()


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class RNNModel(nn.Module):
    def __init__(self, tokens, width, hidden, layers, dropout=0.0, tie=False):
        super(RNNModel, self).__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(tokens, width)
        self.rnn = nn.LSTM(width, hidden, layers, dropout=dropout)
        self.decoder = nn.Linear(hidden, tokens)
        if tie:
            self.decoder.weight = self.encoder.weight
        self.init_weights()
        self.hidden, self.layers = hidden, layers

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.encoder.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        self.decoder.weight.data.uniform_(-initrange, initrange)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output).view(output.size(0) * output.size(1), output.size(2)))
        return decoded.view(output.size(0), output.size(1), decoded.size(1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (
            Variable(weight.new(self.layers, bsz, self.hidden).zero_()),
            Variable(weight.new(self.layers, bsz, self.hidden).zero_()),
        )


source = batchify(torch.LongTensor([index[c] for c in text]), 8)
model = RNNModel(len(chars), 24, 24, 2, tie=True)
criterion = nn.CrossEntropyLoss()
lr, bptt, best = 5.0, 12, None
for epoch in range(1, 4):
    start = time.time()
    model.train()
    total, hidden = 0.0, model.init_hidden(8)
    for batch, i in enumerate(range(0, source.size(0) - 1, bptt)):
        length = min(bptt, len(source) - 1 - i)
        data, targets = source[i : i + length], source[i + 1 : i + 1 + length].view(-1)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, len(chars)), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-lr)
        total += loss.item()
    current = total / (batch + 1)
    assert time.time() - start < 600
    print("| epoch {:3d} | lr {:5.2f} | loss {:5.2f} | ppl {:8.1f}".format(epoch, lr, current, math.exp(current)))
    if best is None or current < best:
        best = current
    else:
        lr /= 4.0
model.eval()
with torch.no_grad():
    hidden = model.init_hidden(1)
    letter = torch.tensor([[index["s"]]])
    said = "s"
    for _ in range(20):
        output, hidden = model(letter, hidden)
        weights = output.squeeze().div(0.5).exp()
        letter.fill_(weights.argmax())
        said += chars[letter.item()]
print(repr(said[:3]), len(said))
